// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/flow_cut.hpp"

#include <algorithm>
#include <limits>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

double across(std::span<const testing::Line> lines, std::span<const std::uint8_t> at_source) {
  double sum = 0;
  for (const auto& line : lines) sum += at_source[line.a] != at_source[line.b] ? line.weight : 0;
  return sum;
}

/// Of all sets with the source and without the sink.
double least_cut(std::uint32_t vertices, std::span<const testing::Line> lines) {
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 1; chosen < 1U << vertices; chosen += 4) {
    std::vector<std::uint8_t> at_source(vertices);
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) at_source[vertex] = chosen >> vertex & 1;
    least = std::min(least, across(lines, at_source));
  }
  return least;
}

TEST(FlowNetwork, FindsTheLeastCutFromBothEnds) {
  FlowNetwork network;  // its memory serves again
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const auto vertices = static_cast<std::uint32_t>(3 + seed % 10);
    const auto lines = testing::random_lines(vertices, 3, seed);
    network.clear(vertices);
    for (const auto& line : lines) network.connect(line.a, line.b, line.weight);
    const double flow = network.run();
    EXPECT_EQ(flow, least_cut(vertices, lines)) << seed;
    const auto smallest = network.source_side(false);
    const auto largest = network.source_side(true);
    for (const auto& side : {smallest, largest}) {
      EXPECT_EQ(side[FlowNetwork::source], 1);
      EXPECT_EQ(side[FlowNetwork::sink], 0);
      EXPECT_EQ(across(lines, side), flow) << seed;
    }
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) EXPECT_LE(smallest[vertex], largest[vertex]);
  }
}

TEST(FlowNetwork, LetsNothingThroughWhereNothingConnects) {
  FlowNetwork network;
  network.clear(4);
  network.connect(FlowNetwork::source, 2, 5);
  network.connect(3, FlowNetwork::sink, 5);
  EXPECT_EQ(network.run(), 0);
  EXPECT_EQ(network.source_side(false), (std::vector<std::uint8_t>{1, 0, 1, 0}));
  EXPECT_EQ(network.source_side(true), (std::vector<std::uint8_t>{1, 0, 1, 0}));
}

std::vector<std::uint32_t> border_of(const WeightedGraph& graph, std::span<const std::uint32_t> part_of) {
  std::vector<std::uint32_t> border;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    if (part_of[vertex] > 1) continue;
    const auto edges = graph.edges(vertex);
    if (std::any_of(edges.begin(), edges.end(), [&](Edge edge) { return part_of[edge.to] == 1 - part_of[vertex]; })) {
      border.push_back(vertex);
    }
  }
  return border;
}

TEST(FlowCut, GivesTheGainItSaysAndKeepsToTheShift) {
  FlowCut flow(60);
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto graph = testing::random_weighted(60, 4, seed);
    auto part_of = testing::random_parts(60, 3, seed);  // a third is of no concern
    const auto before = testing::held_by(graph, part_of, 3);
    const double cut = testing::cut_of(graph, part_of);
    const std::int64_t most_growth = seed % 4 * 8, most_loss = seed % 3 * 8;
    const auto outcome = flow.search(
        graph, [&](std::uint32_t vertex) { return part_of[vertex]; }, border_of(graph, part_of), {60, 60}, most_growth,
        most_loss);
    for (const std::uint32_t to : {0U, 1U}) {
      for (const std::uint32_t vertex : outcome.to_side[to]) {
        ASSERT_EQ(part_of[vertex], 1 - to);
        part_of[vertex] = to;
      }
    }
    EXPECT_DOUBLE_EQ(testing::cut_of(graph, part_of), cut - outcome.gain);
    const auto after = testing::held_by(graph, part_of, 3);
    EXPECT_EQ(after[2], before[2]);
    EXPECT_LE(after[0], before[0] + most_growth);
    EXPECT_GE(after[0] + most_loss, before[0]);
    found += outcome.gain > 0 ? 1 : 0;
  }
  EXPECT_GT(found, 0);
}

TEST(FlowCut, FindsABottleneckAwayFromTheBorder) {
  std::vector<testing::Line> path;
  for (std::uint32_t at = 0; at + 1 < 20; ++at) path.push_back({at, at + 1, at == 12 ? 1.0F : 9.0F});
  const auto graph = testing::graph_of(20, path);
  const auto side = [](std::uint32_t vertex) { return vertex < 10 ? 0 : 1; };
  FlowCut flow(20);
  const auto outcome = flow.search(graph, side, {9, 10}, {5, 5}, 3, 3);
  EXPECT_EQ(outcome.gain, 8);
  auto movers = outcome.to_side[0];
  std::sort(movers.begin(), movers.end());
  EXPECT_EQ(movers, (std::vector<std::uint32_t>{10, 11, 12}));
  EXPECT_TRUE(outcome.to_side[1].empty());
  EXPECT_EQ(flow.search(graph, side, {9, 10}, {5, 5}, 2, 3).gain, 0);  // side 0 may not grow so much
}

}  // namespace
}  // namespace rankloom::multilevel
