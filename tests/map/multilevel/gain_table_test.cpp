// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/gain_table.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/refinement/stopping_rule.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

double weight_between(const WeightedGraph& graph, std::span<const std::uint32_t> block_of, std::uint32_t vertex,
                      std::uint32_t block) {
  double weight = 0;
  for (const Edge edge : graph.edges(vertex)) weight += block_of[edge.to] == block ? edge.weight : 0;
  return weight;
}

TEST(GainTable, AgreesWithTheEdgesAfterRandomMoves) {
  constexpr std::uint32_t vertices = 60;
  constexpr std::uint32_t blocks = 6;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto graph = testing::random_weighted(vertices, 5, seed);
    auto block_of = testing::balanced_partition(vertices, blocks, seed);
    GainTable table(graph, block_of, blocks);
    Random random(seed);
    for (int step = 0; step < 2000; ++step) {
      const auto vertex = static_cast<std::uint32_t>(random.below(vertices));
      const auto to = static_cast<std::uint32_t>(random.below(blocks));
      const std::uint32_t from = std::exchange(block_of[vertex], to);
      table.move(vertex, from, to);
      const auto other = static_cast<std::uint32_t>(random.below(vertices));
      if (!table.has_row(other)) continue;
      const auto row = table.row(other);
      for (std::uint32_t block = 0; block < blocks; ++block)
        ASSERT_DOUBLE_EQ(row[block], weight_between(graph, block_of, other, block));
    }
  }
}

TEST(GainTable, HasRowsOnlyForVerticesWithAsManyEdgesAsBlocks) {
  const auto graph = testing::square(3);  // the centre has four neighbours, a corner two
  const std::vector<std::uint32_t> block_of(9, 0);
  const GainTable table(graph, block_of, 4);
  EXPECT_TRUE(table.has_row(4));
  EXPECT_FALSE(table.has_row(0));
}

TEST(StoppingRule, StopsAWalkThatOnlyLoses) {
  StoppingRule rule;
  for (int move = 0; move < 250; ++move) {
    EXPECT_FALSE(rule.should_stop());
    rule.add(move % 2 == 0 ? -3 : -1);
  }
  rule.add(-1);
  EXPECT_TRUE(rule.should_stop());
  rule.restart();
  EXPECT_FALSE(rule.should_stop());
}

TEST(StoppingRule, ContinuesWhileTheWalkMayReturn) {
  StoppingRule rule;
  for (int move = 0; move < 1000; ++move) {
    rule.add(move % 2 == 0 ? -101 : 100);  // the drift is small compared with the variance
    EXPECT_FALSE(rule.should_stop());
  }
}

}  // namespace
}  // namespace rankloom::multilevel
