// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/bisection.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using Room = std::array<std::uint64_t, 2>;

/// Cut and overload as they are said, which is checked.
Bisection checked(const WeightedGraph& graph, Room room, std::uint64_t seed, const BisectionEffort& effort = {}) {
  auto result = bisect(graph, room, effort, seed);
  EXPECT_EQ(result.side_of.size(), graph.vertex_count());
  EXPECT_DOUBLE_EQ(result.cut, testing::cut_of(graph, result.side_of));
  EXPECT_EQ(result.overload, testing::overload_of(graph, result.side_of, room));
  return result;
}

/// The least cut of all, for unit vertices.
double least_cut(const WeightedGraph& graph, Room room) {
  const std::uint32_t count = graph.vertex_count();
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t chosen = 0; chosen < 1U << count; ++chosen) {
    const auto right = static_cast<std::uint32_t>(std::popcount(chosen));
    if (right > room[1] || count - right > room[0]) continue;
    std::vector<std::uint8_t> side_of(count);
    for (std::uint32_t vertex = 0; vertex < count; ++vertex) side_of[vertex] = chosen >> vertex & 1;
    least = std::min(least, testing::cut_of(graph, side_of));
  }
  return least;
}

TEST(Bisect, CutsTheOneEdgeBetweenTwoCliques) {
  for (const std::uint32_t size : {3U, 10U, 200U}) {
    std::vector<testing::Line> lines;
    testing::add_clique(lines, 0, size);
    testing::add_clique(lines, size, size);
    lines.push_back({0, 2 * size - 1});
    EXPECT_EQ(checked(testing::graph_of(2 * size, lines), {size, size}, 1).cut, 1);
    EXPECT_EQ(checked(testing::graph_of(2 * size, lines), {size + 1, size + 1}, 1).cut, 1);
  }
}

TEST(Bisect, FindsTheLeastCutOfSmallGraphs) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const auto graph = testing::random_weighted(12, 4, seed);
    for (const Room room : {Room{6, 6}, Room{4, 8}, Room{7, 8}}) {
      EXPECT_EQ(checked(graph, room, seed, {.tries = 8}).cut, least_cut(graph, room)) << seed << " " << room[0];
    }
  }
}

TEST(Bisect, NeverExceedsARoomWithOrWithoutSlack) {
  for (const std::uint32_t vertices : {2U, 3U, 37U, 301U, 1501U}) {
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto graph = testing::random_weighted(vertices, 4, seed);
      for (const std::uint64_t left : {1U, vertices / 3, vertices / 2}) {
        for (const std::uint64_t slack : {0, 2}) {
          const Room room{left, vertices - left + slack};
          SCOPED_TRACE(::testing::Message() << vertices << " into " << room[0] << " and " << room[1]);
          const auto result = checked(graph, room, seed);
          EXPECT_EQ(result.overload, 0);
          EXPECT_EQ(checked(graph, room, seed, {.tries = 2, .cycles = 2, .decisive = 200}).overload, 0);
        }
      }
    }
  }
}

TEST(Bisect, CutsASquareAlmostStraight) {
  const auto graph = testing::square(64);
  EXPECT_LE(checked(graph, {2048, 2048}, 1, {.tries = 4}).cut, 70);
  EXPECT_LE(checked(graph, {2110, 2110}, 1, {.tries = 4}).cut, 66);
}

TEST(Bisect, CutsNothingWhereOneSideHoldsAll) {
  const auto result = checked(testing::square(5), {25, 3}, 1);
  EXPECT_EQ(result.cut, 0);
  EXPECT_EQ(std::count(result.side_of.begin(), result.side_of.end(), 0), 25);
}

TEST(Bisect, SharesOutWhoTalksToNobody) {
  EXPECT_EQ(checked(testing::graph_of(7, {}), {3, 4}, 1).overload, 0);
  const std::vector<testing::Line> pair{{2, 5}};
  const auto result = checked(testing::graph_of(8, pair), {4, 4}, 1);
  EXPECT_EQ(result.cut, 0);
  EXPECT_EQ(result.overload, 0);
}

TEST(Bisect, SaysWhatDoesNotFit) {
  const std::vector<testing::Line> triangle{{0, 1}, {1, 2}, {0, 2}};
  EXPECT_EQ(checked(testing::graph_of(3, triangle, std::vector<std::uint32_t>{3, 3, 2}), {4, 4}, 1).overload, 1);
  EXPECT_EQ(checked(testing::square(4), {7, 6}, 1).overload, 3);
}

TEST(Bisect, GivesTheSameForTheSameSeed) {
  const auto graph = testing::random_weighted(400, 5, 1);
  EXPECT_EQ(checked(graph, {200, 210}, 5).side_of, checked(graph, {200, 210}, 5).side_of);
}

}  // namespace
}  // namespace rankloom::multilevel
