// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/matching.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

std::vector<std::vector<std::uint32_t>> members_of(const Coarsening& coarsening) {
  std::vector<std::vector<std::uint32_t>> members(coarsening.coarse_count);
  for (std::uint32_t vertex = 0; vertex < coarsening.coarse_of.size(); ++vertex) {
    members.at(coarsening.coarse_of[vertex]).push_back(vertex);
  }
  return members;
}

TEST(Matched, MakesPairsOfOneLabelThatAreNotTooLarge) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto lines = testing::random_lines(300, 5, seed);
    std::vector<std::uint32_t> sizes(300);
    for (std::uint32_t vertex = 0; vertex < 300; ++vertex) sizes[vertex] = 1 + vertex % 4;
    const auto graph = testing::graph_of(300, lines, sizes);
    const auto label = testing::random_parts(300, 3, seed);
    const auto members = members_of(matched(graph, 5, seed, label));
    EXPECT_LT(members.size(), 240);
    for (const auto& group : members) {
      ASSERT_TRUE(group.size() == 1 || group.size() == 2);
      if (group.size() == 1) continue;
      EXPECT_EQ(label[group[0]], label[group[1]]);
      EXPECT_LE(graph.size(group[0]) + graph.size(group[1]), 5);
    }
  }
}

TEST(Matched, TakesTheHeaviestEdgesFirst) {
  const std::vector<testing::Line> path{{0, 1, 1}, {1, 2, 9}, {2, 3, 1}};
  const auto coarse = matched(testing::graph_of(4, path), 2, 1).coarse_of;
  EXPECT_EQ(coarse[1], coarse[2]);
  EXPECT_NE(coarse[0], coarse[1]);
  EXPECT_NE(coarse[3], coarse[1]);
}

TEST(Matched, PairsTheLeavesOfAHubWithEachOther) {
  std::vector<testing::Line> star;
  for (std::uint32_t leaf = 1; leaf <= 100; ++leaf) star.push_back({0, leaf});
  EXPECT_LE(matched(testing::graph_of(101, star), 2, 1).coarse_count, 51);
}

TEST(Matched, LeavesAloneWhoTalksToNobodyOrMayNotGrow) {
  EXPECT_EQ(matched(testing::graph_of(9, {}), 2, 1).coarse_count, 9);
  EXPECT_EQ(matched(testing::square(5), 1, 1).coarse_count, 25);
  EXPECT_EQ(matched(WeightedGraph(), 2, 1).coarse_count, 0);
}

TEST(Matched, IsTheSameForAnyNumberOfThreads) {
  const auto graph = testing::square(150);  // several chunks, and all weights equal
  std::vector<std::vector<std::uint32_t>> results;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(matched(graph, 2, 7).coarse_of);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], matched(graph, 2, 8).coarse_of);
}

}  // namespace
}  // namespace rankloom::multilevel
