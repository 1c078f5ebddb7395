// SPDX-License-Identifier: Apache-2.0
// Properties of Scotch, METIS and TreeMatch in addition to those of every mapper: they find planted structure.
#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {
using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::shuffled_groups;
using testing::topology;

std::vector<std::string> partitioners() {
  std::vector<std::string> present;
  for (const char* name : {"scotch", "metis", "treematch"}) {
    if (find_mapper(name) != nullptr) present.emplace_back(name);
  }
  return present;
}

class EveryPartitioner : public ::testing::TestWithParam<std::string> {
 protected:
  double cost(const OwnedProblem& problem, std::uint64_t seed = 0, const std::string& options = "") const {
    const auto placement = place_with(GetParam() + options, problem, seed);
    EXPECT_TRUE(Mapping::create(placement.core_of, problem.topology, problem.capacities));
    return problem.cost(placement.core_of);
  }
};

/// Four groups of 16 ranks, each of four subgroups of 4: 64 bytes within a subgroup, 8 within a group, 1 between
/// groups. The ranks are shuffled.
CommGraph nested_groups(double unit, std::uint64_t seed) {
  std::vector<std::uint32_t> shuffled(64);
  for (std::uint32_t at = 0; at < 64; ++at) shuffled[at] = at;
  Random(seed).shuffle(std::span(shuffled));
  CommGraphBuilder builder(64);
  for (std::uint32_t a = 0; a < 64; ++a) {
    for (std::uint32_t b = a + 1; b < 64; ++b) {
      const double bytes = a / 4 == b / 4 ? 64 : a / 16 == b / 16 ? 8 : 1;
      builder.add(Rank{shuffled[a]}, Rank{shuffled[b]}, bytes * unit);
    }
  }
  return std::move(builder).build(false, true);
}
/// 16 groups of 6 pairs at 1, 4 x 96 pairs at 10, 1536 pairs at 100.
constexpr double optimum_of_nested_groups = 16 * 6 * 64 * 1 + 4 * 96 * 8 * 10 + 1536 * 1 * 100;

TEST_P(EveryPartitioner, PlacesEachShuffledGroupOnOneNode) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto problem = make_problem(shuffled_groups(6, 8, seed), topology("node:6=10 core:8=1"));
    EXPECT_DOUBLE_EQ(cost(problem, seed), 6 * 8 * 7 * 1000.0);
  }
}

TEST_P(EveryPartitioner, FindsGroupsWithinGroups) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto problem = make_problem(nested_groups(1, seed), topology("switch:4=100 node:4=10 core:4=1"));
    EXPECT_DOUBLE_EQ(cost(problem, seed), optimum_of_nested_groups);
  }
}

TEST_P(EveryPartitioner, IsIndependentOfTheUnitOfTraffic) {
  for (const double unit : {1e-12, 1.0 / 3, 1e6, 1e15}) {
    SCOPED_TRACE(unit);
    const auto problem = make_problem(nested_groups(unit, 4), topology("switch:4=100 node:4=10 core:4=1"));
    EXPECT_NEAR(cost(problem) / unit, optimum_of_nested_groups, 1e-6 * optimum_of_nested_groups);
  }
}

TEST_P(EveryPartitioner, IsIndependentOfTheUnitOfCost) {
  for (const auto& [machine, unit] : {std::pair("switch:4=0.00001 node:4=0.000001 core:4=0.0000001", 1e-7),
                                      std::pair("switch:4=1000000000 node:4=100000000 core:4=10000000", 1e7)}) {
    SCOPED_TRACE(machine);
    const auto problem = make_problem(nested_groups(1, 5), topology(machine));
    EXPECT_NEAR(cost(problem) / unit, optimum_of_nested_groups, 1e-6 * optimum_of_nested_groups);
  }
}

TEST_P(EveryPartitioner, HandlesWeightsOverTwelveOrdersOfMagnitude) {
  // Heavy pairs in a shuffled order, light traffic between all.
  Random random(6);
  std::vector<std::uint32_t> shuffled(32);
  for (std::uint32_t at = 0; at < 32; ++at) shuffled[at] = at;
  random.shuffle(std::span(shuffled));
  CommGraphBuilder builder(32);
  for (std::uint32_t a = 0; a < 32; ++a) {
    for (std::uint32_t b = a + 1; b < 32; ++b) {
      builder.add(Rank{shuffled[a]}, Rank{shuffled[b]}, a / 2 == b / 2 ? 1e12 : 1 + random.unit());
    }
  }
  const auto problem = make_problem(std::move(builder).build(false, true), topology("node:8=10 core:4=1"));
  const auto placement = place_with(GetParam(), problem);
  for (std::uint32_t pair = 0; pair < 16; ++pair) {
    EXPECT_EQ(problem.topology.node_of(placement.core_of[shuffled[2 * pair]]),
              problem.topology.node_of(placement.core_of[shuffled[2 * pair + 1]]));
  }
}

TEST_P(EveryPartitioner, ReachesTheOptimumForTwoGroups) {
  // Two groups of three with one edge between them: the optimum differs from the block placement.
  CommGraphBuilder builder(6);
  for (const auto& [a, b] : {std::pair(0, 3), {3, 5}, {0, 5}, {1, 2}, {2, 4}, {1, 4}}) {
    builder.add(Rank{static_cast<std::uint32_t>(a)}, Rank{static_cast<std::uint32_t>(b)}, 50);
  }
  builder.add(Rank{0}, Rank{1}, 7);
  const auto problem = make_problem(std::move(builder).build(false, true), topology("node:2=10 core:3=1"));
  EXPECT_DOUBLE_EQ(cost(problem), problem.cost(place_with("exhaustive", problem).core_of));
}

TEST_P(EveryPartitioner, RespectsTheCapacitiesOfSharedCores) {
  const auto problem = make_problem(testing::shuffled_grid(25, 40, 7), topology("switch:2=100 node:3=10 core:4=1"),
                                    CostModel::bytes, {.oversubscribe = true, .imbalance = 0.03});
  const auto placement = place_with(GetParam(), problem);
  std::vector<std::uint32_t> ranks_on(24, 0);
  for (const Core core : placement.core_of) ++ranks_on[index(core)];
  // 1000 / 24 is 42 rounded up, and 3 % more is 43.
  EXPECT_LE(*std::max_element(ranks_on.begin(), ranks_on.end()), 43U);
  EXPECT_GE(*std::min_element(ranks_on.begin(), ranks_on.end()), 20U);
  const auto block = block_placement(1000, problem.topology, problem.capacities);
  EXPECT_LT(problem.cost(placement.core_of), 0.25 * problem.cost(block));
}

TEST_P(EveryPartitioner, HandlesUnevenNodes) {
  // Nodes with different numbers of cores, some of them excluded: 3, 4, 2 and 5 slots.
  const auto problem = make_problem(shuffled_groups(7, 2, 8), topology("node:4=10 core:4+4+3+5=1 !core:3,8"));
  EXPECT_LE(cost(problem), 7 * 2 * 1000.0 + 2 * 2 * 9 * 1000.0);  // at most two of the seven pairs are separated
}

TEST_P(EveryPartitioner, GivesTheSameResultForTheSameSeed) {
  const auto problem = make_problem(testing::shuffled_grid(16, 16, 9), topology("switch:4=100 node:8=10 core:8=1"));
  EXPECT_EQ(place_with(GetParam(), problem, 5).core_of, place_with(GetParam(), problem, 5).core_of);
}

INSTANTIATE_TEST_SUITE_P(Present, EveryPartitioner, ::testing::ValuesIn(partitioners()),
                         [](const auto& mapper) { return mapper.param; });

class EveryLibrary : public EveryPartitioner {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryLibrary);

TEST_P(EveryLibrary, DependsOnTheSeed) {
  const auto problem = make_problem(testing::shuffled_grid(16, 16, 9), topology("switch:4=100 node:8=10 core:8=1"));
  std::set<std::vector<Core>> results;
  for (const std::uint64_t seed : {1, 2, 3, 4}) results.insert(place_with(GetParam(), problem, seed).core_of);
  EXPECT_GT(results.size(), 1U);
}

TEST_P(EveryLibrary, PacksFewRanksOnRequest) {
  const auto problem = make_problem(testing::shuffled_grid(4, 4, 1), topology("node:8=10 core:8=1"));
  const auto placement = place_with(GetParam() + ":pack", problem);
  for (const Core core : placement.core_of) EXPECT_LT(index(core), 16U);
  EXPECT_DOUBLE_EQ(problem.cost(placement.core_of),
                   20 * 100 + 4 * 1000.0);  // two halves of two columns each, four edges cut
}

TEST_P(EveryLibrary, BalancesLoadsOnRequest) {
  Random random(3);
  std::vector<double> loads(400);
  for (std::size_t rank = 0; rank < loads.size(); ++rank)
    loads[rank] = 1000.0 / static_cast<double>(1 + random.below(100));
  CommGraphBuilder builder(400);
  builder.set_loads(loads);
  for (std::uint32_t rank = 0; rank + 1 < 400; ++rank) builder.add(Rank{rank}, Rank{rank + 1}, 10);
  const auto problem = make_problem(std::move(builder).build(false, true), topology("node:2=10 core:4=1"),
                                    CostModel::bytes, {.oversubscribe = true, .imbalance = 0});
  const auto result = run_mapper(testing::mapper(GetParam() + ":load"), problem.view(), MapRun{}, {.keep_worse = true});
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->load);
  const auto by_number = place_with(GetParam(), problem).core_of;
  EXPECT_LT(result->load->imbalance(), 0.12);
  EXPECT_LT(result->load->heaviest_core, load_balance(problem.graph, problem.topology, by_number).heaviest_core);
}

std::vector<std::string> libraries() {
  auto present = partitioners();
  std::erase(present, "treematch");
  return present;
}

INSTANTIATE_TEST_SUITE_P(Present, EveryLibrary, ::testing::ValuesIn(libraries()),
                         [](const auto& mapper) { return mapper.param; });

TEST(ExternalMappers, MissingFromTheBuildAreReportedWithAHint) {
  for (const char* name : {"scotch", "metis"}) {
    const auto made = make_mapper(name);
    EXPECT_EQ(made.has_value(), find_mapper(name) != nullptr);
    if (made) continue;
    EXPECT_EQ(made.error().code, Code::environment);
    EXPECT_THAT(made.error().what, ::testing::HasSubstr("this build has no"));
    EXPECT_THAT(made.error().hint, ::testing::HasSubstr("-dev"));
  }
}

}  // namespace
}  // namespace rankloom
