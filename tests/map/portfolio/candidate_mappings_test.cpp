// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/portfolio/candidate_mappings.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/model/prediction/flow_prediction.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::directed_graph;
using ::testing::HasSubstr;
using testing::make_problem;
using testing::OwnedProblem;
using testing::random_graph;
using testing::shuffled_groups;
using testing::topology;

std::vector<Core> cores(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Core> result;
  for (const std::uint32_t number : numbers) result.push_back(Core{number});
  return result;
}

Result<std::vector<CandidateMapping>> find_candidates(const OwnedProblem& problem, std::string_view spec = "auto") {
  const auto mapper = testing::mapper(spec);
  const auto mapped = run_mapper(mapper, problem.view(), {});
  EXPECT_TRUE(mapped) << (mapped ? "" : to_string(mapped.error()));
  return candidate_mappings(mapper, problem.view(), {}, {}, *mapped);
}

bool contains(const std::vector<CandidateMapping>& candidates, std::span<const Core> core_of,
              const OwnedProblem& problem) {
  return std::ranges::any_of(candidates, [&](const CandidateMapping& candidate) {
    return equal_up_to_symmetry(candidate.mapping.cores(), core_of, problem.topology, problem.capacities);
  });
}

TEST(CandidateMappings, AreValidDifferentAndOrderedByPredictedTimeOnEveryMachine) {
  for (const std::string& machine : testing::machines_of_every_kind()) {
    SCOPED_TRACE(machine);
    const OwnedProblem problem = make_problem(random_graph(8, 0.4, 3), topology(machine));
    const auto candidates = find_candidates(problem, "auto:effort=fast");
    ASSERT_TRUE(candidates) << to_string(candidates.error());
    EXPECT_EQ(std::ranges::count_if(*candidates, &CandidateMapping::is_default), 1);
    EXPECT_TRUE(contains(*candidates, block_placement(8, problem.topology, problem.capacities), problem));
    for (std::size_t i = 0; i < candidates->size(); ++i) {
      const auto core_of = (*candidates)[i].mapping.cores();
      EXPECT_TRUE(Mapping::create({core_of.begin(), core_of.end()}, problem.topology, problem.capacities));
      const auto platform = Platform::of(problem.topology);
      const double predicted = platform ? *predict_by_flows(problem.graph, *platform, core_of)
                                        : evaluate(problem.graph, problem.topology, core_of, CostModel::predicted);
      EXPECT_EQ((*candidates)[i].predicted_seconds, predicted);
      EXPECT_EQ((*candidates)[i].cost, evaluate(problem.graph, problem.topology, core_of, problem.model));
      if (i > 0) {
        EXPECT_LE((*candidates)[i - 1].predicted_seconds, (*candidates)[i].predicted_seconds);
      }
      EXPECT_FALSE(
          contains({candidates->begin(), candidates->begin() + static_cast<std::ptrdiff_t>(i)}, core_of, problem));
    }
  }
}

TEST(CandidateMappings, AreTheSameInEveryRun) {
  const OwnedProblem problem = make_problem(shuffled_groups(4, 4, 1), topology("node:8=10,1us core:4=1,0.1us"));
  const auto one = find_candidates(problem), other = find_candidates(problem);
  ASSERT_TRUE(one && other);
  ASSERT_EQ(one->size(), other->size());
  for (std::size_t i = 0; i < one->size(); ++i) {
    EXPECT_EQ((*one)[i].name(), (*other)[i].name());
    EXPECT_EQ((*one)[i].mapping, (*other)[i].mapping);
  }
}

TEST(CandidateMappings, UseFewAndManyNodesIfSlotsStayFree) {
  // An all-to-all within two groups of eight; each node has eight slots and one network card.
  const OwnedProblem problem = make_problem(shuffled_groups(2, 8, 1), topology("node:8=10,1us core:8=1,0.1us"));
  const auto candidates = find_candidates(problem);
  ASSERT_TRUE(candidates);
  std::set<std::uint32_t> nodes;
  for (const CandidateMapping& candidate : *candidates) nodes.insert(candidate.nodes);
  EXPECT_TRUE(nodes.contains(2));
  EXPECT_TRUE(nodes.contains(8));
}

TEST(CandidateMappings, IncludeTheStartAndTheGivenDefaultPlacement) {
  OwnedProblem problem =
      make_problem(directed_graph(4, {{0, 1, 100}, {2, 3, 100}, {1, 2, 1}}), topology("node:4=10 core:2=1"));
  problem.start = cores({0, 4, 1, 5});
  const std::vector<Core> given = cores({0, 2, 4, 6});
  const auto mapper = testing::mapper("auto");
  const auto mapped = run_mapper(mapper, problem.view(), {}, {.default_placement = given});
  ASSERT_TRUE(mapped);
  const auto candidates = candidate_mappings(mapper, problem.view(), {}, given, *mapped);
  ASSERT_TRUE(candidates) << to_string(candidates.error());
  EXPECT_TRUE(contains(*candidates, problem.start, problem));
  const auto kept = std::ranges::find_if(*candidates, &CandidateMapping::is_default);
  ASSERT_NE(kept, candidates->end());
  EXPECT_TRUE(std::ranges::equal(kept->mapping.cores(), given));
  EXPECT_EQ(kept->name(), "default placement on 4 nodes");
}

TEST(CandidateMappings, DoNotBalanceLoads) {
  const OwnedProblem problem = make_problem(random_graph(8, 0.4, 3), topology("node:2=10 core:4=1"));
  const auto candidates = find_candidates(problem, "auto:load");
  ASSERT_FALSE(candidates);
  EXPECT_EQ(candidates.error().code, Code::usage);
  EXPECT_THAT(candidates.error().what, HasSubstr("balance loads"));
}

bool equal(const Topology& machine, std::initializer_list<std::uint32_t> a, std::initializer_list<std::uint32_t> b) {
  const auto capacities = Capacities::of(machine, static_cast<std::uint32_t>(a.size()), {});
  return equal_up_to_symmetry(cores(a), cores(b), machine, *capacities);
}

TEST(EqualUpToSymmetry, ExchangesNodesAndCoresOfASymmetricTree) {
  const Topology machine = topology("switch:2=20 node:2=10 core:2=1");
  EXPECT_TRUE(equal(machine, {0, 1, 2, 3}, {0, 1, 2, 3}));
  EXPECT_TRUE(equal(machine, {0, 1, 2, 3}, {1, 0, 2, 3}));
  EXPECT_TRUE(equal(machine, {0, 1, 2, 3}, {2, 3, 0, 1}));
  EXPECT_TRUE(equal(machine, {0, 1, 2, 3}, {6, 7, 5, 4}));
  EXPECT_FALSE(equal(machine, {0, 1, 2, 3}, {0, 2, 1, 3}));
  EXPECT_FALSE(equal(machine, {0, 1, 2, 3}, {0, 1, 4, 5})) << "other switches";
  EXPECT_FALSE(equal(machine, {0, 1, 4, 5}, {0, 1, 2, 3}));
}

TEST(EqualUpToSymmetry, KeepsPartsApartThatDiffer) {
  EXPECT_FALSE(equal(topology("node:2=10 core:2+3=1"), {0, 1}, {2, 3}));
  EXPECT_FALSE(equal(topology("node:3=10 core:2=1 !core:1"), {2, 3}, {4, 5}));
  const Topology ring = topology("torus:4x2=5 core:2=1");
  EXPECT_TRUE(equal(ring, {0, 1, 4}, {1, 0, 5})) << "cores of the same nodes";
  EXPECT_FALSE(equal(ring, {0, 1, 4}, {2, 3, 6})) << "other nodes of a routed network";
}

}  // namespace
}  // namespace rankloom
