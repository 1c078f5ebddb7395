// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rankloom/map/portfolio/growing.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::topology;

TEST(GrownPlacement, PutsEveryGroupOnANodeOfItsOwn) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto problem = make_problem(testing::shuffled_groups(6, 8, seed), topology("switch:2=9 node:3=4 core:8=1"));
    // All traffic at the cost of a node's inside.
    EXPECT_EQ(problem.cost(grown_placement(problem.view())), problem.graph.total_bytes());
  }
}

TEST(GrownPlacement, FollowsTrafficAgainstItsDirection) {
  // Each even rank only receives; its sender has the next odd number of the other half.
  CommGraphBuilder builder(8);
  for (std::uint32_t rank = 0; rank < 4; ++rank) builder.add(Rank{7 - rank}, Rank{rank}, 10);
  const auto problem = make_problem(std::move(builder).build(true), topology("node:4=9 core:2=1"));
  EXPECT_EQ(problem.cost(grown_placement(problem.view())), 40);
}

TEST(Auto, FindsShuffledGroupsAgain) {
  for (const auto& [groups, size, machine] : std::vector<std::tuple<std::uint32_t, std::uint32_t, const char*>>{
           {4, 4, "node:4=10 core:4=1"}, {8, 16, "switch:2=9 node:4=4 core:16=1"}, {64, 16, "node:64=10 core:16=1"}}) {
    const auto problem = make_problem(testing::shuffled_groups(groups, size, 7), topology(machine));
    EXPECT_EQ(problem.cost(testing::placed_by("auto", problem).core_of), problem.graph.total_bytes()) << machine;
  }
}

TEST(Auto, GainsOnShuffledGrids) {
  for (const char* machine : {"switch:4=10 node:4=4 core:64=1", "torus:32x32=1 core:1"}) {
    const auto problem = make_problem(testing::shuffled_grid(32, 32, 1), topology(machine));
    const double block = problem.cost(block_placement(1024, problem.topology, problem.slots));
    EXPECT_LT(problem.cost(testing::placed_by("auto", problem).core_of), 0.5 * block) << machine;
  }
}

TEST(Auto, KeepsABetterStart) {
  // Among all-to-all groups any placement by groups is perfect; block is not.
  auto problem = make_problem(testing::shuffled_groups(3, 4, 3), topology("node:3=10 core:4=1"));
  problem.start = grown_placement(problem.view());
  MapRun run;
  run.deadline = Deadline::in(std::chrono::milliseconds(0));
  const auto placement = testing::mapper("auto").mapper->place(problem.view(), run);
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->core_of, problem.start);
}

}  // namespace
}  // namespace rankloom
