// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"
#include "tests/support/sanitizers.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::place_with;
using testing::topology;

/// A grid whose ranks are numbered row by row.
CommGraph grid(std::uint32_t rows, std::uint32_t columns) {
  CommGraphBuilder builder(rows * columns);
  for (std::uint32_t at = 0; at < rows * columns; ++at) {
    if (at % columns + 1 < columns) builder.add(Rank{at}, Rank{at + 1}, 100);
    if (at + columns < rows * columns) builder.add(Rank{at}, Rank{at + columns}, 100);
  }
  return std::move(builder).build(false, true);
}

TEST(TreeMatch, TilesAGridOfPowersOfTwo) {
  // 2 x 2 on a node, 4 x 4 on a switch: of the 112 links 64 stay on a node, 32 more on a switch.
  const auto problem = make_problem(grid(8, 8), topology("switch:4=100 node:4=10 core:4=1"));
  EXPECT_DOUBLE_EQ(problem.cost(place_with("treematch", problem).core_of), 64 * 100 + 32 * 1000 + 16 * 10000.0);
}

TEST(TreeMatch, PlacesFewRanksOnFewNodes) {
  const auto problem = make_problem(grid(4, 5), topology("switch:4=100 node:4=10 core:4=1"));
  const auto placement = place_with("treematch", problem);
  std::set<std::uint32_t> nodes, switches;
  for (const Core core : placement.core_of) {
    nodes.insert(index(problem.topology.node_of(core)));
    switches.insert(problem.topology.object_of(0, core));
  }
  EXPECT_LE(nodes.size(), 6U);  // five suffice; a sixth may reduce the cost
  EXPECT_EQ(switches.size(), 2U);
}

TEST(TreeMatch, KeepsAGroupThatIsSmallerThanANodeOnOneNode) {
  const auto problem = make_problem(testing::shuffled_groups(4, 3, 1), topology("node:4=10 core:4=1"));
  EXPECT_DOUBLE_EQ(problem.cost(place_with("treematch", problem).core_of), 4 * 3 * 2 * 1000.0);
}

TEST(TreeMatch, SharesCoresEvenly) {
  const auto problem = make_problem(testing::shuffled_groups(6, 5, 2), topology("node:3=10 core:4=1"), CostModel::bytes,
                                    {.oversubscribe = true, .imbalance = 0});
  const auto placement = place_with("treematch", problem);
  std::vector<std::uint32_t> ranks_on(12, 0);
  for (const Core core : placement.core_of) ++ranks_on[index(core)];
  for (const std::uint32_t count : ranks_on) EXPECT_TRUE(count == 2 || count == 3);  // 30 ranks on 12 cores
}

TEST(TreeMatch, PlacesNeighbouringGroupsOnAdjacentNodesOfAMesh) {
  const auto problem = make_problem(grid(8, 16), topology("mesh:4x8=1 core:4=0.1"));
  const auto placement = place_with("treematch", problem);
  // Squares of four ranks on each node, adjacent squares on adjacent nodes: 128 edges inside nodes and 104 over one
  // hop. In a random placement the 104 edges would have four hops each.
  EXPECT_LE(problem.cost(placement.core_of), 2 * (128 * 100 * 0.1 + 104 * 100));
}

TEST(TreeMatch, FindsPlantedGroupsWithAndWithoutArityDivision) {
  const auto problem = make_problem(testing::shuffled_groups(4, 12, 3), topology("node:4=10 core:12=1"));
  for (const char* spec : {"treematch", "treematch:split=false", "treematch:candidates=5"}) {
    EXPECT_DOUBLE_EQ(problem.cost(place_with(spec, problem).core_of), 4 * 12 * 11 * 1000.0) << spec;
  }
}

TEST(TreeMatch, TakesSecondsForLargeSparsePrograms) {
  // A sixteenth of the program for the thread sanitizer, with which the time limit of a test would not suffice.
  constexpr bool is_slow = testing::slowdown > 1;
  constexpr std::uint32_t side = is_slow ? 64 : 256;
  const auto problem =
      make_problem(testing::shuffled_grid(side, side, 1),
                   topology(is_slow ? "switch:4=100 node:32=10 core:32=1" : "switch:64=100 node:32=10 core:32=1"));
  const testing::CpuTime time;
  const auto placement = place_with("treematch", problem);
  EXPECT_LT(time.seconds(), 20 * testing::slowdown);
  EXPECT_LT(problem.cost(placement.core_of),
            0.3 * problem.cost(block_placement(side * side, problem.topology, problem.capacities)));
}

}  // namespace
}  // namespace rankloom
