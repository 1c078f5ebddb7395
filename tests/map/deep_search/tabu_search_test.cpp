// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/deep_search/tabu_search.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// The tables that a search keeps say what a plain evaluation says, also after many steps.
template <class Number>
void expect_true_changes(const testing::OwnedProblem& problem) {
  const AssignmentTables tables(problem.view());
  TabuSearch<Number> tabu(tables);
  Random random(1);
  Pulse pulse{Deadline()};
  const auto start = testing::random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, 2);
  tabu.begin(tables.items_on_seats(start));
  for (int round = 0; round < 4; ++round) {
    tabu.run(25, 25, random, pulse);
    std::vector<std::uint32_t> items(tabu.current().begin(), tabu.current().end());
    const double cost = tables.cost(items);
    const double tolerance = 1e-9 * (1 + std::abs(cost));
    ASSERT_NEAR(tabu.current_cost(), cost, tolerance);
    ASSERT_LE(tabu.best_cost(), cost + tolerance);
    ASSERT_NEAR(tables.cost(tabu.best()), tabu.best_cost(), tolerance);
    ASSERT_NEAR(problem.cost(tables.placement(items)), cost, tolerance);
    for (std::uint32_t seat = 0; seat < tables.size(); ++seat) {
      for (std::uint32_t other = seat + 1; other < tables.size(); ++other) {
        std::swap(items[seat], items[other]);
        ASSERT_NEAR(tabu.change(seat, other), tables.cost(items) - cost, tolerance) << seat << " with " << other;
        std::swap(items[seat], items[other]);
      }
    }
  }
}

TEST(TabuSearch, KnowsWhatEveryExchangeChangesOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::congestion) continue;
      SCOPED_TRACE(name + " " + std::string(model.name));
      expect_true_changes<double>(testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model));
    }
  }
}

TEST(TabuSearch, IsExactInWholeNumbers) {
  for (const std::string name : {"nug12", "bur26a", "chr25a", "lipa40a"}) {
    SCOPED_TRACE(name);
    const auto problem = testing::qaplib(name);
    const AssignmentTables tables(problem.view());
    ASSERT_TRUE(tables.whole());
    ASSERT_LT(tables.largest_change(), 0x1p31);
    expect_true_changes<std::int32_t>(problem);
    expect_true_changes<double>(problem);
  }
}

TEST(TabuSearch, EndsAtOnceWhereNoExchangeChangesAnything) {
  const auto problem = testing::make_problem(testing::random_graph(6, 0.5, 1), testing::topology("core:6=1"));
  const AssignmentTables tables(problem.view());
  TabuSearch<std::int32_t> tabu(tables);
  Random random(1);
  Pulse pulse{Deadline()};
  tabu.begin(tables.items_on_seats(block_placement(6, problem.topology, problem.capacities)));
  EXPECT_EQ(tabu.run(1'000'000'000'000, 1'000'000'000'000, random, pulse), 1'000'000'000'000U);
}

}  // namespace
}  // namespace rankloom
