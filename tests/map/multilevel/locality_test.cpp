// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/locality.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

std::vector<std::uint32_t> shuffled_numbers(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  Random(1).shuffle(std::span(numbers));
  return numbers;
}

/// How far apart the ends of edges are numbered, on average.
double mean_reach(const WeightedGraph& graph) {
  double reach = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    for (const Edge edge : graph.edges(vertex)) reach += std::max(edge.to, vertex) - std::min(edge.to, vertex);
  }
  return reach / static_cast<double>(graph.edge_count());
}

TEST(LocalOrder, BringsNeighboursTogetherAgain) {
  const auto graph = reordered(testing::square(190), shuffled_numbers(190 * 190));
  auto order = local_order(graph);
  ASSERT_EQ(order.size(), graph.vertex_count());
  EXPECT_LT(mean_reach(reordered(graph, order)), 0.05 * mean_reach(graph));
  std::sort(order.begin(), order.end());
  for (std::uint32_t at = 0; at < order.size(); ++at) ASSERT_EQ(order[at], at);
}

TEST(LocalOrder, LeavesGoodOrdersAndSmallGraphsAlone) {
  EXPECT_TRUE(local_order(testing::square(190)).empty());
  EXPECT_TRUE(local_order(reordered(testing::square(20), shuffled_numbers(400))).empty());
}

TEST(Reordered, IsTheSameGraphUnderOtherNumbers) {
  const auto lines = testing::random_lines(50, 8, 1);
  std::vector<std::uint32_t> sizes(50);
  for (std::uint32_t vertex = 0; vertex < 50; ++vertex) sizes[vertex] = 1 + vertex % 4;
  const auto graph = testing::graph_of(50, lines, sizes);
  const auto order = shuffled_numbers(50);
  const auto other = reordered(graph, order);
  for (std::uint32_t at = 0; at < 50; ++at) {
    EXPECT_EQ(other.size(at), graph.size(order[at]));
    ASSERT_EQ(other.edges(at).size(), graph.edges(order[at]).size());
    for (std::size_t edge = 0; edge < other.edges(at).size(); ++edge) {
      EXPECT_EQ(order[other.edges(at)[edge].to], graph.edges(order[at])[edge].to);
      EXPECT_EQ(other.edges(at)[edge].weight, graph.edges(order[at])[edge].weight);
    }
  }
}

}  // namespace
}  // namespace rankloom::multilevel
