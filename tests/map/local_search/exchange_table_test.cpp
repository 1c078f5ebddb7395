// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/exchange_table.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// Every entry, also after many exchanges, is what the exchange would bring.
TEST(ExchangeTable, EqualsRecomputationOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem = testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model);
      const MapProblem view = problem.view();
      ASSERT_TRUE(ExchangeTable::fits(view));
      Seating seating(view, testing::random_placement(9, machine, problem.capacities, 2));
      const Senders senders(problem.graph);
      Pulse pulse{Deadline()};
      ExchangeTable table(seating, senders, pulse);
      Random random(3);
      for (int step = 0; step < 12; ++step) {
        const double tolerance = 1e-9 * (1 + std::abs(seating.cost()));
        double least = 0;
        for (std::uint32_t rank = 0; rank < table.ranks(); ++rank) {
          for (std::uint32_t other = rank + 1; other < table.occupants(); ++other) {
            const auto exchange = table.exchange(other, rank);
            ASSERT_EQ(exchange.rank, rank);
            const double kept = exchange.delta;
            ASSERT_NEAR(kept, table.correct(exchange), tolerance) << rank << " with " << other;
            least = std::min(least, kept);
          }
        }
        ASSERT_NEAR(std::min(0.0, table.best()->delta), least, tolerance);
        const auto rank = static_cast<std::uint32_t>(random.below(table.ranks()));
        const auto other =
            static_cast<std::uint32_t>((rank + 1 + random.below(table.occupants() - 1)) % table.occupants());
        const double before = seating.cost();
        const auto exchange = table.exchange(rank, other);
        table.apply(exchange);
        ASSERT_NEAR(seating.cost(), before + exchange.delta, tolerance);
        ASSERT_NEAR(seating.cost(), problem.cost(seating.placement()), tolerance);
        ASSERT_TRUE(Mapping::checked(seating.placement(), machine, problem.capacities));
      }
    }
  }
}

TEST(ExchangeTable, UndoesAnExchangeByDoingItAgain) {
  const auto problem =
      testing::make_problem(testing::random_graph(5, 0.8, 1), testing::topology("node:2=10 core:2*2=1"));
  const MapProblem view = problem.view();
  Seating seating(view, start_of(view));
  const Senders senders(problem.graph);
  Pulse pulse{Deadline()};
  ExchangeTable table(seating, senders, pulse);
  ASSERT_EQ(table.occupants(), 8);  // five ranks and three free capacities
  const auto before = seating.placement();
  for (std::uint32_t other = 1; other < 8; ++other) {
    const auto exchange = table.exchange(0, other);
    table.apply(exchange);
    table.apply(exchange);
    EXPECT_EQ(seating.placement(), before);
  }
}

TEST(ExchangeTable, DoesNotFitLargeProblems) {
  const auto large = testing::make_problem(testing::shuffled_grid(40, 50, 1), testing::topology("node:64=4 core:32=1"));
  EXPECT_FALSE(ExchangeTable::fits(large.view()));
}

}  // namespace
}  // namespace rankloom
