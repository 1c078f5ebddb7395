// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/seating.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// Lists and room agree with the placement.
void expect_consistent(const testing::OwnedProblem& problem, const Seating& seating) {
  std::set<Core> open(seating.open_cores().begin(), seating.open_cores().end());
  EXPECT_EQ(open.size(), seating.open_cores().size());
  for (const Core core : problem.topology.cores()) {
    std::set<Rank> listed, sitting;
    for (auto rank = seating.first_on(core); rank; rank = seating.next_on_core(*rank))
      EXPECT_TRUE(listed.insert(*rank).second);
    for (const Rank rank : problem.graph.ranks()) {
      if (seating.core_of(rank) == core) sitting.insert(rank);
    }
    EXPECT_EQ(listed, sitting);
    EXPECT_EQ(seating.has_room(core), sitting.size() < problem.capacities[core]);
    EXPECT_EQ(seating.has_room(core), open.contains(core));
  }
}

TEST(Seating, KeepsListsRoomAndCostInStepThroughRandomChanges) {
  for (const char* machine : {"node:3=10 core:4=1", "node:3=10 core:2*2=1", "node:4=8 core:3=1 !core:1,6-7"}) {
    const auto problem = testing::make_problem(testing::random_graph(7, 0.6, 1), testing::topology(machine));
    const MapProblem view = problem.view();
    Seating seating(view, start_of(view));
    Random random(5);
    for (int step = 0; step < 60; ++step) {
      const Rank rank{static_cast<std::uint32_t>(random.below(7))};
      if (random.below(2) == 0) {
        const Rank other{static_cast<std::uint32_t>((index(rank) + 1 + random.below(6)) % 7)};
        seating.apply(seating.try_swap(rank, other));
      } else {
        const auto open = seating.open_cores();
        seating.apply(seating.try_move(rank, open[random.below(open.size())]));
      }
      expect_consistent(problem, seating);
      ASSERT_NEAR(seating.cost(), problem.cost(seating.placement()), 1e-6);
    }
  }
}

TEST(Seating, TakesRoundingForNoGain) {
  const auto problem = testing::make_problem(testing::random_graph(6, 1.0, 1), testing::topology("core:6"));
  const MapProblem view = problem.view();
  const Seating seating(view, start_of(view));
  EXPECT_FALSE(seating.is_gain(0));
  EXPECT_FALSE(seating.is_gain(-1e-14 * seating.cost()));
  EXPECT_TRUE(seating.is_gain(-1e-9 * seating.cost()));
}

}  // namespace
}  // namespace rankloom
