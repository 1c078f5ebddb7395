// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/metaheuristics/annealing_domains.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/metaheuristics/simulated_annealing.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;

/// Groups of 16 ranks whose numbers are far apart, on 8,192 cores.
OwnedProblem large_problem() {
  return make_problem(testing::shuffled_groups(500, 16, 1), testing::topology("node:256=100 package:2=10 core:16=1"));
}

std::vector<Core> block(const OwnedProblem& problem) {
  return block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
}

TEST(AnnealingDomains, HaveAboutTheSameSize) {
  const OwnedProblem problem = large_problem();
  const SparseQap graph(problem.view());
  const AnnealingDomains domains(graph, graph.locations().assignment_of(block(problem)), AnnealingDomains::Kind::grown,
                                 1);
  ASSERT_EQ(domains.domains(), 8);
  for (std::uint64_t phase = 0; phase < AnnealingDomains::division_count; ++phase) {
    std::vector<std::uint32_t> size(domains.domains(), 0);
    for (const std::uint16_t domain : domains.division(phase)) ++size.at(domain);
    // A unit is a node of 32 cores.
    EXPECT_GE(*std::min_element(size.begin(), size.end()), 1024 - 32) << phase;
    EXPECT_LE(*std::max_element(size.begin(), size.end()), 1024 + 32) << phase;
  }
}

TEST(AnnealingDomains, KeepNodesWithMuchTrafficTogether) {
  // Node i communicates with node i + 128 only.
  const std::uint32_t ranks = 8192;
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks / 2; ++rank) builder.add(Rank{rank}, Rank{rank + ranks / 2}, 10, 1);
  const OwnedProblem problem =
      make_problem(std::move(builder).build(false), testing::topology("node:256=100 core:32=1"));
  const SparseQap graph(problem.view());
  const AnnealingDomains domains(graph, graph.locations().assignment_of(block(problem)), AnnealingDomains::Kind::grown,
                                 1);
  for (std::uint64_t phase = 0; phase < AnnealingDomains::division_count; ++phase) {
    const auto division = domains.division(phase);
    std::uint32_t separated = 0;
    for (std::uint32_t location = 0; location < ranks / 2; location += 32)
      separated += division[location] != division[location + ranks / 2] ? 1 : 0;
    EXPECT_LE(separated, domains.domains());  // at most one pair at each end of a domain
  }
}

TEST(AnnealingDomains, SeparateOtherNodesInEachDivision) {
  const OwnedProblem problem = large_problem();
  const SparseQap graph(problem.view());
  const AnnealingDomains domains(graph, graph.locations().assignment_of(block(problem)), AnnealingDomains::Kind::grown,
                                 1);
  for (std::uint64_t phase = 1; phase < AnnealingDomains::division_count; ++phase)
    EXPECT_FALSE(std::ranges::equal(domains.division(0), domains.division(phase))) << phase;
}

TEST(AnnealingDomains, AreScatteredOverAllNodes) {
  const OwnedProblem problem = large_problem();
  const SparseQap graph(problem.view());
  const AnnealingDomains domains(graph, graph.locations().assignment_of(block(problem)),
                                 AnnealingDomains::Kind::scattered, 1);
  ASSERT_EQ(domains.domains(), 8);
  for (std::uint64_t phase = 0; phase < AnnealingDomains::division_count; ++phase) {
    const auto division = domains.division(phase);
    std::vector<std::uint32_t> size(domains.domains(), 0);
    for (const std::uint16_t domain : division) ++size.at(domain);
    // 1,024 locations on average, with a standard deviation of 30.
    EXPECT_GE(*std::min_element(size.begin(), size.end()), 1024 - 120) << phase;
    EXPECT_LE(*std::max_element(size.begin(), size.end()), 1024 + 120) << phase;
    std::size_t nodes_of_first = 0;
    for (std::size_t node = 0; node < 256; ++node) {
      const auto locations = division.subspan(node * 32, 32);
      nodes_of_first += std::ranges::find(locations, 0) != locations.end() ? 1 : 0;
    }
    EXPECT_GT(nodes_of_first, 240) << phase;
  }
}

void expect_the_same_for_any_number_of_threads(const OwnedProblem& problem, std::uint64_t trials_per_rank) {
  const MapProblem view = problem.view();
  const SparseQap graph(view);
  std::vector<std::vector<Core>> results;
  for (const std::size_t threads : {1, 2, 3, 8}) {
    const ThreadLimit limit(threads);
    Random random(1);
    StopCondition stop_condition{Deadline()};
    results.push_back(simulated_annealing(view, graph, block(problem), trials_per_rank * problem.graph.rank_count(), {},
                                          random, stop_condition));
    EXPECT_EQ(results.back(), results.front()) << threads << " threads";
  }
  ASSERT_TRUE(Mapping::create(results[0], problem.topology, problem.capacities));
  EXPECT_LT(problem.cost(results[0]), 0.8 * problem.cost(block(problem)));
}

TEST(AnnealingInGrownDomains, LowersTheCostAndIsTheSameForAnyNumberOfThreads) {
  expect_the_same_for_any_number_of_threads(large_problem(), 100);
}

/// With this many trials per rank, the search begins at the highest temperature.
TEST(AnnealingInScatteredDomains, LowersTheCostAndIsTheSameForAnyNumberOfThreads) {
  const OwnedProblem with_free_slots =
      make_problem(testing::shuffled_groups(62, 16, 1), testing::topology("node:128=100 package:2=10 core:16=1"));
  expect_the_same_for_any_number_of_threads(with_free_slots, 2000);
}

}  // namespace
}  // namespace rankloom
