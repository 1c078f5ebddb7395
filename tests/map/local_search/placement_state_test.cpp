// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/placement_state.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// The lists of ranks and the free slots agree with the placement.
void expect_consistent(const testing::OwnedProblem& problem, const PlacementState& state) {
  std::set<Core> open(state.open_cores().begin(), state.open_cores().end());
  EXPECT_EQ(open.size(), state.open_cores().size());
  for (const Core core : problem.topology.cores()) {
    std::set<Rank> listed, placed;
    for (auto rank = state.first_on(core); rank; rank = state.next_on_core(*rank))
      EXPECT_TRUE(listed.insert(*rank).second);
    for (const Rank rank : problem.graph.ranks()) {
      if (state.core_of(rank) == core) placed.insert(rank);
    }
    EXPECT_EQ(listed, placed);
    EXPECT_EQ(state.has_free_slot(core), placed.size() < problem.capacities[core]);
    EXPECT_EQ(state.has_free_slot(core), open.contains(core));
  }
}

TEST(PlacementState, StaysConsistentThroughRandomChanges) {
  for (const char* machine : {"node:3=10 core:4=1", "node:3=10 core:2*2=1", "node:4=8 core:3=1 !core:1,6-7"}) {
    const auto problem = testing::make_problem(testing::random_graph(7, 0.6, 1), testing::topology(machine));
    const MapProblem view = problem.view();
    PlacementState state(view, start_of(view));
    Random random(5);
    for (int step = 0; step < 60; ++step) {
      const Rank rank{static_cast<std::uint32_t>(random.below(7))};
      if (random.below(2) == 0) {
        const Rank other{static_cast<std::uint32_t>((index(rank) + 1 + random.below(6)) % 7)};
        state.apply(state.try_exchange(rank, other));
      } else {
        const auto open = state.open_cores();
        state.apply(state.try_move(rank, open[random.below(open.size())]));
      }
      expect_consistent(problem, state);
      ASSERT_NEAR(state.cost(), problem.cost(state.placement()), 1e-6);
    }
  }
}

TEST(PlacementState, DoesNotCountRoundingErrorsAsAGain) {
  const auto problem = testing::make_problem(testing::random_graph(6, 1.0, 1), testing::topology("core:6"));
  const MapProblem view = problem.view();
  const PlacementState state(view, start_of(view));
  EXPECT_FALSE(state.is_gain(0));
  EXPECT_FALSE(state.is_gain(-1e-14 * state.cost()));
  EXPECT_TRUE(state.is_gain(-1e-9 * state.cost()));
}

}  // namespace
}  // namespace rankloom
