// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/initial_partitioning/bisection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

/// Checks that the reported cut and overload are right.
Bipartition bisect_and_check(const WeightedGraph& graph, SideWeights max_block_weight, std::uint64_t seed,
                             const BisectionOptions& options = {}) {
  auto result = bisect(graph, max_block_weight, options, seed);
  EXPECT_EQ(result.side_of.size(), graph.vertex_count());
  EXPECT_DOUBLE_EQ(result.cut, testing::cut_of(graph, result.side_of));
  EXPECT_EQ(result.overload, testing::overload_of(graph, result.side_of, max_block_weight));
  return result;
}

/// The minimum cut by exhaustive search, for vertices of weight 1.
double min_cut(const WeightedGraph& graph, SideWeights max_block_weight) {
  const std::uint32_t count = graph.vertex_count();
  double minimum = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 0; chosen < 1U << count; ++chosen) {
    const auto on_side_1 = static_cast<std::uint32_t>(std::popcount(chosen));
    if (on_side_1 > max_block_weight[1] || count - on_side_1 > max_block_weight[0]) continue;
    std::vector<std::uint8_t> side_of(count);
    for (std::uint32_t vertex = 0; vertex < count; ++vertex) side_of[vertex] = chosen >> vertex & 1;
    minimum = std::min(minimum, testing::cut_of(graph, side_of));
  }
  return minimum;
}

TEST(Bisect, CutsTheOneEdgeBetweenTwoCliques) {
  for (const std::uint32_t size : {3U, 10U, 200U}) {
    std::vector<testing::UndirectedEdge> edge_list;
    testing::add_clique(edge_list, 0, size);
    testing::add_clique(edge_list, size, size);
    edge_list.push_back({0, 2 * size - 1});
    EXPECT_EQ(bisect_and_check(testing::graph_of(2 * size, edge_list), {size, size}, 1).cut, 1);
    EXPECT_EQ(bisect_and_check(testing::graph_of(2 * size, edge_list), {size + 1, size + 1}, 1).cut, 1);
  }
}

TEST(Bisect, CountsPullsLikeEdges) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    auto graph = testing::random_weighted(12, 4, seed);
    Random random(seed);
    Array<float> pulls(12);
    for (float& pull : pulls) pull = static_cast<float>(random.below(13)) - 6;
    graph.set_pulls(pulls);
    double minimum = std::numeric_limits<double>::infinity();
    for (std::uint32_t chosen = 0; chosen < 1U << 12; ++chosen) {
      if (std::popcount(chosen) < 5 || std::popcount(chosen) > 7) continue;
      std::vector<std::uint8_t> side_of(12);
      double pulled = 0;
      for (std::uint32_t vertex = 0; vertex < 12; ++vertex) {
        side_of[vertex] = chosen >> vertex & 1;
        pulled += std::max(side_of[vertex] == 0 ? pulls[vertex] : -pulls[vertex], 0.0F);
      }
      minimum = std::min(minimum, testing::cut_of(graph, side_of) + pulled);
    }
    EXPECT_DOUBLE_EQ(bisect(graph, {7, 7}, {.repetitions = 8}, seed).cut, minimum) << seed;
  }
}

TEST(Bisect, FindsTheMinimumCutOfSmallGraphs) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const auto graph = testing::random_weighted(12, 4, seed);
    for (const SideWeights max_block_weight : {SideWeights{6, 6}, SideWeights{4, 8}, SideWeights{7, 8}}) {
      EXPECT_EQ(bisect_and_check(graph, max_block_weight, seed, {.repetitions = 8}).cut,
                min_cut(graph, max_block_weight))
          << seed << " " << max_block_weight[0];
    }
  }
}

TEST(Bisect, NeverExceedsAMaximumWeightWithOrWithoutSlack) {
  for (const std::uint32_t vertices : {2U, 3U, 37U, 301U, 1501U}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto graph = testing::random_weighted(vertices, 4, seed);
      for (const std::uint64_t left : {1U, vertices / 3, vertices / 2}) {
        for (const std::uint64_t slack : {0, 2}) {
          const SideWeights max_block_weight{left, vertices - left + slack};
          SCOPED_TRACE(::testing::Message()
                       << vertices << " into " << max_block_weight[0] << " and " << max_block_weight[1]);
          const auto result = bisect_and_check(graph, max_block_weight, seed);
          EXPECT_EQ(result.overload, 0);
          EXPECT_EQ(
              bisect_and_check(graph, max_block_weight, seed, {.repetitions = 2, .coarse_vertices = 200}).overload, 0);
        }
      }
    }
  }
}

TEST(Bisect, BisectsASquareWithANearlyMinimalCut) {
  const auto graph = testing::square(64);
  EXPECT_LE(bisect_and_check(graph, {2048, 2048}, 1, {.repetitions = 4}).cut, 70);
  EXPECT_LE(bisect_and_check(graph, {2110, 2110}, 1, {.repetitions = 4}).cut, 66);
}

TEST(Bisect, CutsNothingIfOneSideHasTheCapacityForAll) {
  const auto result = bisect_and_check(testing::square(5), {25, 3}, 1);
  EXPECT_EQ(result.cut, 0);
  EXPECT_EQ(std::count(result.side_of.begin(), result.side_of.end(), 0), 25);
}

TEST(Bisect, DistributesIsolatedVertices) {
  EXPECT_EQ(bisect_and_check(testing::graph_of(7, {}), {3, 4}, 1).overload, 0);
  const std::vector<testing::UndirectedEdge> pair{{2, 5}};
  const auto result = bisect_and_check(testing::graph_of(8, pair), {4, 4}, 1);
  EXPECT_EQ(result.cut, 0);
  EXPECT_EQ(result.overload, 0);
}

TEST(Bisect, ReportsTheOverload) {
  const std::vector<testing::UndirectedEdge> triangle{{0, 1}, {1, 2}, {0, 2}};
  EXPECT_EQ(bisect_and_check(testing::graph_of(3, triangle, std::vector<std::uint32_t>{3, 3, 2}), {4, 4}, 1).overload,
            1);
  EXPECT_EQ(bisect_and_check(testing::square(4), {7, 6}, 1).overload, 3);
}

TEST(Bisect, IsTheSameForTheSameSeed) {
  const auto graph = testing::random_weighted(400, 5, 1);
  EXPECT_EQ(bisect_and_check(graph, {200, 210}, 5).side_of, bisect_and_check(graph, {200, 210}, 5).side_of);
}

}  // namespace
}  // namespace rankloom::multilevel
