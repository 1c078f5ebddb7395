// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/band_min_cut.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

double cut_of(std::span<const testing::UndirectedEdge> edge_list, std::span<const std::uint8_t> at_source) {
  double sum = 0;
  for (const auto& edge : edge_list) sum += at_source[edge.a] != at_source[edge.b] ? edge.weight : 0;
  return sum;
}

/// Exhaustive search over all sets with the source and without the sink.
double min_cut(std::uint32_t vertices, std::span<const testing::UndirectedEdge> edge_list) {
  double minimum = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 1; chosen < 1U << vertices; chosen += 4) {
    std::vector<std::uint8_t> at_source(vertices);
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) at_source[vertex] = chosen >> vertex & 1;
    minimum = std::min(minimum, cut_of(edge_list, at_source));
  }
  return minimum;
}

TEST(FlowNetwork, FindsTheSmallestAndLargestMinimumCut) {
  FlowNetwork network;  // reused for all graphs
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto vertices = static_cast<std::uint32_t>(3 + seed % 10);
    const auto edge_list = testing::random_edges(vertices, 3, seed);
    network.clear(vertices);
    for (const auto& edge : edge_list) network.connect(edge.a, edge.b, edge.weight);
    const double flow = network.run();
    EXPECT_EQ(flow, min_cut(vertices, edge_list)) << seed;
    const auto smallest = network.source_side(false);
    const auto largest = network.source_side(true);
    for (const auto& side : {smallest, largest}) {
      EXPECT_EQ(side[FlowNetwork::source], 1);
      EXPECT_EQ(side[FlowNetwork::sink], 0);
      EXPECT_EQ(cut_of(edge_list, side), flow) << seed;
    }
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) EXPECT_LE(smallest[vertex], largest[vertex]);
  }
}

TEST(FlowNetwork, HasNoFlowBetweenDisconnectedVertices) {
  FlowNetwork network;
  network.clear(4);
  network.connect(FlowNetwork::source, 2, 5);
  network.connect(3, FlowNetwork::sink, 5);
  EXPECT_EQ(network.run(), 0);
  EXPECT_EQ(network.source_side(false), (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(network.source_side(true), (std::vector<std::uint8_t>{1, 0, 1, 0}));
}

std::vector<std::uint32_t> border_of(const WeightedGraph& graph, std::span<const std::uint32_t> block_of) {
  std::vector<std::uint32_t> boundary;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    if (block_of[vertex] > 1) continue;
    const auto edges = graph.edges(vertex);
    if (std::any_of(edges.begin(), edges.end(), [&](Edge edge) { return block_of[edge.to] == 1 - block_of[vertex]; })) {
      boundary.push_back(vertex);
    }
  }
  return boundary;
}

TEST(BandMinCut, ReportsTheGainAndKeepsTheBalance) {
  BandMinCut min_cut(60);
  int improved = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto graph = testing::random_weighted(60, 4, seed);
    auto block_of = testing::random_partition(60, 3, seed);  // vertices of block 2 take no part
    const auto before = testing::block_weights_of(graph, block_of, 3);
    const double cut = testing::cut_of(graph, block_of);
    const std::int64_t max_growth = seed % 4 * 8, max_loss = seed % 3 * 8;
    const auto result = min_cut.search(
        graph, [&](std::uint32_t vertex) { return block_of[vertex]; }, border_of(graph, block_of), {60, 60}, max_growth,
        max_loss);
    for (const std::uint32_t to : {0U, 1U}) {
      for (const std::uint32_t vertex : result.moves_to_side[to]) {
        ASSERT_EQ(block_of[vertex], 1 - to);
        block_of[vertex] = to;
      }
    }
    EXPECT_DOUBLE_EQ(testing::cut_of(graph, block_of), cut - result.gain);
    const auto after = testing::block_weights_of(graph, block_of, 3);
    EXPECT_EQ(after[2], before[2]);
    EXPECT_LE(after[0], before[0] + max_growth);
    EXPECT_GE(after[0] + max_loss, before[0]);
    improved += result.gain > 0 ? 1 : 0;
  }
  EXPECT_GT(improved, 0);
}

TEST(BandMinCut, FindsABottleneckAwayFromTheBoundary) {
  std::vector<testing::UndirectedEdge> path;
  for (std::uint32_t at = 0; at + 1 < 20; ++at) path.push_back({at, at + 1, at == 12 ? 1.0F : 9.0F});
  const auto graph = testing::graph_of(20, path);
  const auto side = [](std::uint32_t vertex) { return vertex < 10 ? 0 : 1; };
  BandMinCut min_cut(20);
  const auto result = min_cut.search(graph, side, {9, 10}, {5, 5}, 3, 3);
  EXPECT_EQ(result.gain, 8);
  auto moves = result.moves_to_side[0];
  std::sort(moves.begin(), moves.end());
  EXPECT_EQ(moves, (std::vector<std::uint32_t>{10, 11, 12}));
  EXPECT_TRUE(result.moves_to_side[1].empty());
  EXPECT_EQ(min_cut.search(graph, side, {9, 10}, {5, 5}, 2, 3).gain, 0);  // side 0 may not grow by 3
}

}  // namespace
}  // namespace rankloom::multilevel
