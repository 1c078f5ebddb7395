// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/flow_refinement.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

/// Strips of columns with ragged boundaries.
std::vector<std::uint32_t> ragged_strips(std::uint32_t side, std::uint32_t blocks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> block_of(side * side);
  for (std::uint32_t at = 0; at < side * side; ++at) {
    const auto column = std::min<std::uint32_t>(side - 1, at % side + static_cast<std::uint32_t>(random.below(3)));
    block_of[at] = column * blocks / side;
  }
  return block_of;
}

std::vector<std::uint64_t> with_slack(const WeightedGraph& graph, std::span<const std::uint32_t> block_of,
                                      std::uint32_t blocks, std::uint64_t slack) {
  auto max_block_weight = testing::block_weights_of(graph, block_of, blocks);
  for (std::uint64_t& weight : max_block_weight) weight += slack;
  return max_block_weight;
}

TEST(FlowRefinement, NeverIncreasesTheCutNorExceedsBlockWeights) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const auto random = testing::random_weighted(200, 5, seed);
    const auto grid = testing::square(24);
    for (const WeightedGraph* const graph : {&random, &grid}) {
      auto block_of = graph == &grid ? ragged_strips(24, 6, seed) : testing::random_partition(200, 6, seed);
      for (const std::uint64_t slack : {0, 1, 10}) {
        const auto max_block_weight = with_slack(*graph, block_of, 6, slack);
        const double before = testing::cut_of(*graph, block_of);
        const double gain = flow_refinement(*graph, max_block_weight, block_of, 3);
        EXPECT_GE(gain, 0);
        EXPECT_NEAR(testing::cut_of(*graph, block_of), before - gain, 1e-6 * before);
        EXPECT_EQ(testing::overload_of(*graph, block_of, max_block_weight), 0);
      }
    }
  }
}

TEST(FlowRefinement, StraightensRaggedBoundaries) {
  const auto graph = testing::square(48);
  auto block_of = ragged_strips(48, 4, 1);
  const double before = testing::cut_of(graph, block_of);
  flow_refinement(graph, with_slack(graph, block_of, 4, 100), block_of, 4);
  EXPECT_GT(before, 1.5 * 3 * 48);
  EXPECT_LE(testing::cut_of(graph, block_of), 1.1 * 3 * 48);
}

TEST(FlowRefinement, DoesNotChangeOverloadedBlocks) {
  const auto graph = testing::square(6);
  auto block_of = ragged_strips(6, 2, 1);
  const auto before = block_of;
  EXPECT_EQ(flow_refinement(graph, std::vector<std::uint64_t>{1, 36}, block_of, 2), 0);
  EXPECT_EQ(block_of, before);
}

TEST(FlowRefinement, IsTheSameForAnyNumberOfThreads) {
  const auto graph = testing::square(60);
  const auto start = ragged_strips(60, 12, 1);
  const auto max_block_weight = with_slack(graph, start, 12, 20);
  std::vector<std::vector<std::uint32_t>> results;
  std::vector<double> gains;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(start);
    gains.push_back(flow_refinement(graph, max_block_weight, results.back(), 3));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(gains[0], gains[1]);
}

}  // namespace
}  // namespace rankloom::multilevel
