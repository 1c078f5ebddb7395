// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/steepest_descent.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// Every entry equals the delta of its exchange, also after many exchanges.
TEST(ExchangeTable, EqualsRecomputationOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem = testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model);
      const MapProblem view = problem.view();
      ASSERT_TRUE(ExchangeTable::fits(view));
      PlacementState state(view, testing::random_placement(9, machine, problem.capacities, 2));
      const ReverseAdjacency reverse_adjacency(problem.graph);
      StopCondition stop_condition{Deadline()};
      ExchangeTable table(state, reverse_adjacency, stop_condition);
      Random random(3);
      for (int step = 0; step < 12; ++step) {
        const double tolerance = 1e-9 * (1 + std::abs(state.cost()));
        double lowest = 0;
        for (std::uint32_t rank = 0; rank < table.ranks(); ++rank) {
          for (std::uint32_t other = rank + 1; other < table.occupants(); ++other) {
            const auto exchange = table.exchange(other, rank);
            ASSERT_EQ(exchange.rank, rank);
            const double stored = exchange.delta;
            ASSERT_NEAR(stored, table.recompute(exchange), tolerance) << rank << " with " << other;
            lowest = std::min(lowest, stored);
          }
        }
        ASSERT_NEAR(std::min(0.0, table.best()->delta), lowest, tolerance);
        const auto rank = static_cast<std::uint32_t>(random.below(table.ranks()));
        const auto other =
            static_cast<std::uint32_t>((rank + 1 + random.below(table.occupants() - 1)) % table.occupants());
        const double before = state.cost();
        const auto exchange = table.exchange(rank, other);
        table.apply(exchange);
        ASSERT_NEAR(state.cost(), before + exchange.delta, tolerance);
        ASSERT_NEAR(state.cost(), problem.cost(state.placement()), tolerance);
        ASSERT_TRUE(Mapping::create(state.placement(), machine, problem.capacities));
      }
    }
  }
}

TEST(ExchangeTable, RestoresThePlacementWhenAnExchangeIsAppliedTwice) {
  const auto problem =
      testing::make_problem(testing::random_graph(5, 0.8, 1), testing::topology("node:2=10 core:2*2=1"));
  const MapProblem view = problem.view();
  PlacementState state(view, start_of(view));
  const ReverseAdjacency reverse_adjacency(problem.graph);
  StopCondition stop_condition{Deadline()};
  ExchangeTable table(state, reverse_adjacency, stop_condition);
  ASSERT_EQ(table.occupants(), 8);  // five ranks and three free slots
  const auto before = state.placement();
  for (std::uint32_t other = 1; other < 8; ++other) {
    const auto exchange = table.exchange(0, other);
    table.apply(exchange);
    table.apply(exchange);
    EXPECT_EQ(state.placement(), before);
  }
}

TEST(ExchangeTable, DoesNotFitLargeProblems) {
  const auto large = testing::make_problem(testing::shuffled_grid(40, 50, 1), testing::topology("node:64=4 core:32=1"));
  EXPECT_FALSE(ExchangeTable::fits(large.view()));
}

}  // namespace
}  // namespace rankloom
