// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/deep_search/assignment_tables.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

TEST(AssignmentTables, CostWhatThePlacementCostsOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem = testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model);
      if (model.model == CostModel::congestion) {
        EXPECT_FALSE(AssignmentTables::fit(problem.view()));
        continue;
      }
      ASSERT_TRUE(AssignmentTables::fit(problem.view()));
      const AssignmentTables tables(problem.view());
      const auto core_of = testing::random_placement(9, machine, problem.capacities, 2);
      const auto items = tables.items_on_seats(core_of);
      EXPECT_NEAR(tables.cost(items), problem.cost(core_of), 1e-9 * std::abs(problem.cost(core_of)));
      EXPECT_EQ(tables.placement(items), core_of);
    }
  }
}

TEST(AssignmentTables, KnowWhichSeatsAndItemsAreInterchangeable) {
  // Ranks 0 and 1 talk to nobody, like the empty item; 2 and 3 talk to each other alone.
  CommGraphBuilder builder(5);
  builder.add(Rank{2}, Rank{3}, 10);
  builder.add(Rank{3}, Rank{2}, 10);
  builder.add(Rank{4}, Rank{4}, 3);
  const auto problem =
      testing::make_problem(std::move(builder).build(false), testing::topology("node:2=10 package:1 core:3=1"));
  const AssignmentTables tables(problem.view());
  const std::vector<std::uint32_t> items(tables.item_kind().begin(), tables.item_kind().end());
  const std::vector<std::uint32_t> seats(tables.seat_kind().begin(), tables.seat_kind().end());
  EXPECT_EQ(items, (std::vector<std::uint32_t>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(seats, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1}));
}

TEST(AssignmentTables, TakeOneTermWhereEitherSideIsSymmetric) {
  EXPECT_EQ(AssignmentTables(testing::qaplib("nug12").view()).terms().size(), 1U);
  EXPECT_EQ(AssignmentTables(testing::qaplib("tai20b").view()).terms().size(), 1U);
  EXPECT_EQ(AssignmentTables(testing::qaplib("bur26a").view()).terms().size(), 2U);
}

}  // namespace
}  // namespace rankloom
