// SPDX-License-Identifier: Apache-2.0
// tests of report/layout: rows and cells of heat maps.
#include "rankloom/report/layout/heat_map_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using testing::topology;

TEST(HeatOrder, FollowsTheCoresAndMarksTheNodes) {
  const std::vector<Core> core_of{Core{3}, Core{0}, Core{2}, Core{5}};
  const HeatOrder order = heat_order("after", topology("node:3 core:2"), core_of);
  EXPECT_THAT(order.ranks, ElementsAre(1, 2, 0, 3));
  EXPECT_THAT(order.borders, ElementsAre(0, 1, 3));
  EXPECT_THAT(order.nodes, ElementsAre("node0", "node1", "node2"));
}

TEST(HeatOrder, OfRanksOnOneCoreTheLowerComesFirst) {
  const std::vector<Core> core_of{Core{1}, Core{0}, Core{1}, Core{0}};
  EXPECT_THAT(heat_order("after", topology("node:1 core:2"), core_of).ranks, ElementsAre(1, 3, 0, 2));
}

TEST(HeatCells, RowsSendAndColumnsReceiveInTheOrder) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{2}, 1000);
  builder.add(Rank{1}, Rank{1}, 5000);  // to itself
  const CommGraph graph = std::move(builder).build(false);
  const std::vector<std::uint32_t> order{2, 1, 0};
  const HeatCells heat = heat_cells(graph, order, 10);
  EXPECT_EQ(heat.cells, 3);
  EXPECT_THAT(heat.density, ElementsAre(0, 0, 0, 0, 0, 0, 1000, 0, 0));
  EXPECT_DOUBLE_EQ(heat.shade(2, 0), 1);
  EXPECT_LT(heat.shade(0, 0), 0);
}

TEST(HeatCells, ShadesGoByTheLogarithm) {
  const HeatCells heat{2, {1, 10, 100, 0.0001}, 100};
  EXPECT_DOUBLE_EQ(heat.shade(1, 0), 1);
  EXPECT_DOUBLE_EQ(heat.shade(0, 1), 0.75);  // four factors of ten are told apart
  EXPECT_DOUBLE_EQ(heat.shade(1, 1), 0);
}

}  // namespace
}  // namespace rankloom
