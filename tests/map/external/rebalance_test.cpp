// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/external/rebalance.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::directed_graph;
using testing::random_graph;

TEST(Rebalance, MovesTheFewestElementsAndThoseWithTheSmallestLoss) {
  // Two triangles and one more vertex, all in block 0; block 1 has capacity for three. Triangle 3, 4, 5 is the
  // lightest.
  const Affinity affinity(
      directed_graph(7, {{0, 1, 9}, {1, 2, 9}, {0, 2, 9}, {3, 4, 2}, {4, 5, 2}, {3, 5, 2}, {2, 3, 1}, {0, 6, 9}}));
  std::vector<std::uint32_t> block_of(7, 0);
  rebalance(affinity, block_of, std::vector<std::uint64_t>{4, 3});
  EXPECT_EQ(block_of, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 0}));
}

TEST(Rebalance, FillsEveryBlockToItsMaximumWeightIfThereIsNoSlack) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Affinity affinity(random_graph(30, 0.2, seed));
    Random random(seed);
    std::vector<std::uint32_t> block_of(30);
    for (auto& block : block_of) block = static_cast<std::uint32_t>(random.below(4));
    const std::vector<std::uint64_t> max_block_weight{3, 12, 0, 15};
    rebalance(affinity, block_of, max_block_weight);
    for (std::uint32_t block = 0; block < 4; ++block) {
      EXPECT_EQ(static_cast<std::uint64_t>(std::count(block_of.begin(), block_of.end(), block)),
                max_block_weight[block]);
    }
  }
}

}  // namespace
}  // namespace rankloom
