// SPDX-License-Identifier: Apache-2.0
// tests of report/document: large traffic taken together in blocks.
#include "rankloom/report/document/displayed_traffic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

using ::testing::ElementsAre;

CommGraph ring(std::uint32_t ranks) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.add(Rank{rank}, Rank{(rank + 1) % ranks}, rank + 1.0, 2);
  return std::move(builder).build(true);
}

TEST(DisplayedTraffic, SmallProgramsAreShownRankByRank) {
  EXPECT_EQ(block_size(ring(16'384)), 1);
}

TEST(DisplayedTraffic, LargeOnesBecomeAThousandBlocksAtMost) {
  EXPECT_EQ(block_size(ring(16'385)), 17);
  EXPECT_EQ(block_size(ring(10), {.ranks = 16, .pairs = 9, .blocks = 4}), 3);
}

TEST(DisplayedTraffic, BlocksLoseNothing) {
  const CommGraph graph = ring(10);
  const DisplayedTraffic shown = in_blocks(graph, {}, 3);
  EXPECT_EQ(shown.graph.rank_count(), 4);  // 3, 3, 3, 1
  EXPECT_EQ(shown.rank_count, 10);
  EXPECT_DOUBLE_EQ(shown.graph.total_bytes(), graph.total_bytes());
  EXPECT_DOUBLE_EQ(shown.graph.total_messages(), graph.total_messages());
  EXPECT_THAT(shown.graph.targets(Rank{0}), ElementsAre(Rank{0}, Rank{1}));
  EXPECT_THAT(shown.graph.bytes(Rank{0}), ElementsAre(1 + 2, 3));  // 0→1, 1→2 stay inside, 2→3 leaves
}

TEST(DisplayedTraffic, BlocksFollowTheOrder) {
  const std::vector<std::uint32_t> order{0, 2, 1, 3};
  const DisplayedTraffic shown = in_blocks(ring(4), order, 2);  // blocks {0,2} and {1,3}: everything crosses
  EXPECT_THAT(shown.graph.targets(Rank{0}), ElementsAre(Rank{1}));
  EXPECT_THAT(shown.graph.targets(Rank{1}), ElementsAre(Rank{0}));
}

TEST(DisplayedTraffic, BordersOfNodesFollowTheBlocks) {
  HeatOrder order{"after", std::vector<std::uint32_t>(100), {0, 50}, {"a", "b"}};
  const HeatOrder shown = in_blocks(order, 10);
  EXPECT_THAT(shown.ranks, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  EXPECT_THAT(shown.borders, ElementsAre(0, 5));
  EXPECT_THAT(shown.nodes, ElementsAre("a", "b"));
}

TEST(DisplayedTraffic, NodesSmallerThanBlocksHaveNoBorders) {
  HeatOrder order{"after", std::vector<std::uint32_t>(100), {}, {}};
  for (std::uint32_t row = 0; row < 100; row += 4) {
    order.borders.push_back(row);
    order.nodes.emplace_back("n");
  }
  EXPECT_TRUE(in_blocks(order, 10).borders.empty());
}

}  // namespace
}  // namespace rankloom
