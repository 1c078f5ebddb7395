// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/coarsening/heavy_edge_matching.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

std::vector<std::vector<std::uint32_t>> members_of(const Matching& matching) {
  std::vector<std::vector<std::uint32_t>> members(matching.coarse_count);
  for (std::uint32_t vertex = 0; vertex < matching.coarse_of.size(); ++vertex) {
    members.at(matching.coarse_of[vertex]).push_back(vertex);
  }
  return members;
}

TEST(HeavyEdgeMatching, MatchesPairsOfOneLabelWithinTheMaximumWeight) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto edge_list = testing::random_edges(300, 5, seed);
    std::vector<std::uint32_t> vertex_weights(300);
    for (std::uint32_t vertex = 0; vertex < 300; ++vertex) vertex_weights[vertex] = 1 + vertex % 4;
    const auto graph = testing::graph_of(300, edge_list, vertex_weights);
    const auto label = testing::random_partition(300, 3, seed);
    const auto members = members_of(heavy_edge_matching(graph, 5, seed, label));
    EXPECT_LT(members.size(), 240);
    for (const auto& group : members) {
      ASSERT_TRUE(group.size() == 1 || group.size() == 2);
      if (group.size() == 1) continue;
      EXPECT_EQ(label[group[0]], label[group[1]]);
      EXPECT_LE(graph.vertex_weight(group[0]) + graph.vertex_weight(group[1]), 5);
    }
  }
}

TEST(HeavyEdgeMatching, TakesTheHeaviestEdgesFirst) {
  const std::vector<testing::UndirectedEdge> path{{0, 1, 1}, {1, 2, 9}, {2, 3, 1}};
  const auto coarse = heavy_edge_matching(testing::graph_of(4, path), 2, 1).coarse_of;
  EXPECT_EQ(coarse[1], coarse[2]);
  EXPECT_NE(coarse[0], coarse[1]);
  EXPECT_NE(coarse[3], coarse[1]);
}

TEST(HeavyEdgeMatching, MatchesTheLeavesOfAHubWithEachOther) {
  std::vector<testing::UndirectedEdge> star;
  for (std::uint32_t leaf = 1; leaf <= 100; ++leaf) star.push_back({0, leaf});
  EXPECT_LE(heavy_edge_matching(testing::graph_of(101, star), 2, 1).coarse_count, 51);
}

TEST(HeavyEdgeMatching, MatchesLeavesThatShareTheirHeaviestNeighbour) {
  // 0, 1 and 2 weigh too much to be matched. 3 and 4 have their heaviest edge to 0, and another one later in their
  // rows.
  const std::vector<testing::UndirectedEdge> edges{{0, 3, 9}, {1, 3, 1}, {0, 4, 9}, {2, 4, 1}};
  const std::vector<std::uint32_t> weights{9, 9, 9, 1, 1};
  const auto coarse = heavy_edge_matching(testing::graph_of(5, edges, weights), 2, 1).coarse_of;
  EXPECT_EQ(coarse[3], coarse[4]);
}

TEST(HeavyEdgeMatching, LeavesIsolatedAndHeavyVerticesUnmatched) {
  EXPECT_EQ(heavy_edge_matching(testing::graph_of(9, {}), 2, 1).coarse_count, 9);
  EXPECT_EQ(heavy_edge_matching(testing::square(5), 1, 1).coarse_count, 25);
  EXPECT_EQ(heavy_edge_matching(WeightedGraph(), 2, 1).coarse_count, 0);
}

TEST(HeavyEdgeMatching, IsTheSameForAnyNumberOfThreads) {
  const auto graph = testing::square(150);  // several chunks; all weights are equal
  std::vector<Array<std::uint32_t>> results;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(heavy_edge_matching(graph, 2, 7).coarse_of);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_NE(results[0], heavy_edge_matching(graph, 2, 8).coarse_of);
}

}  // namespace
}  // namespace rankloom::multilevel
