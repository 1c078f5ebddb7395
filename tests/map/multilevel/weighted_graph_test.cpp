// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <map>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/map_support.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::make_problem;
using rankloom::testing::topology;

using Weights = std::map<std::pair<std::uint32_t, std::uint32_t>, double>;

Weights weights_of(const WeightedGraph& graph) {
  Weights weights;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    for (const Edge edge : graph.edges(vertex)) weights[{vertex, edge.to}] += edge.weight;
  }
  return weights;
}

TEST(WeightedGraph, HasBothDirectionsInOneNumberAndNoLoops) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 10);
  builder.add(Rank{1}, Rank{0}, 5);
  builder.add(Rank{2}, Rank{2}, 7);
  builder.add(Rank{3}, Rank{1}, 2);
  const auto problem = make_problem(std::move(builder).build(true), topology("node:2=10 core:2=1"));
  const auto graph = weighted_graph(problem.view());
  EXPECT_EQ(weights_of(graph), (Weights{{{0, 1}, 15}, {{1, 0}, 15}, {{1, 3}, 2}, {{3, 1}, 2}}));
  EXPECT_EQ(graph.total_size(), 4);
  EXPECT_EQ(graph.largest(), 1);
}

TEST(WeightedGraph, HoldsNothingWithoutRanks) {
  EXPECT_EQ(WeightedGraph().vertex_count(), 0);
  const auto problem = make_problem(CommGraphBuilder(0).build(false), topology("core:2"));
  EXPECT_EQ(weighted_graph(problem.view()).vertex_count(), 0);
}

TEST(Contracted, KeepsTheWeightBetweenGroups) {
  for (const std::uint32_t groups : {1U, 7U, 40U, 6000U}) {  // the last needs several chunks
    const std::uint32_t vertices = groups < 1000 ? 80 : 9000;
    std::vector<testing::Line> lines;
    if (groups < 1000) {
      lines = testing::random_lines(vertices, 10, groups);
    } else {
      for (std::uint32_t at = 0; at + 7 < vertices; ++at)
        lines.push_back({at, at + 1 + at % 7, static_cast<float>(1 + at % 5)});
    }
    std::vector<std::uint32_t> sizes(vertices);
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) sizes[vertex] = 1 + vertex % 3;
    const auto graph = testing::graph_of(vertices, lines, sizes);
    auto group_of = testing::random_parts(vertices, groups, 3);
    for (std::uint32_t group = 0; group < groups; ++group) group_of[group] = group;  // none is empty
    Weights between;
    for (const auto& [pair, weight] : weights_of(graph)) {
      const std::uint32_t from = group_of[pair.first], to = group_of[pair.second];
      if (from != to) between[{from, to}] += weight;
    }
    const auto coarse = contracted(graph, group_of, groups);
    ASSERT_EQ(coarse.vertex_count(), groups);
    EXPECT_EQ(weights_of(coarse), between);
    EXPECT_EQ(coarse.edge_count(), between.size());  // one entry a neighbour
    EXPECT_EQ(coarse.total_size(), graph.total_size());
    const auto held = testing::held_by(graph, group_of, groups);
    for (std::uint32_t group = 0; group < groups; ++group) EXPECT_EQ(coarse.size(group), held[group]);
  }
}

TEST(Split, KeepsWhatIsInsideEachPartAndNothingElse) {
  const auto graph = testing::random_weighted(60, 12, 1);
  const auto part_of = testing::random_parts(60, 4, 2);
  const auto shares = split(graph, part_of, 5);  // nobody is in the last
  ASSERT_EQ(shares.size(), 5);
  EXPECT_EQ(shares[4].graph.vertex_count(), 0);
  Weights inside;
  for (const auto& [pair, weight] : weights_of(graph)) {
    if (part_of[pair.first] == part_of[pair.second]) inside[pair] = weight;
  }
  Weights found;
  std::size_t vertices = 0;
  for (std::uint32_t part = 0; part < 5; ++part) {
    const auto& [share, original] = shares[part];
    vertices += original.size();
    for (const std::uint32_t vertex : original) EXPECT_EQ(part_of[vertex], part);
    for (const auto& [pair, weight] : weights_of(share)) found[{original[pair.first], original[pair.second]}] = weight;
  }
  EXPECT_EQ(vertices, 60);
  EXPECT_EQ(found, inside);
}

TEST(Halves, AreTheTwoPartsOfASplit) {
  const auto graph = testing::random_weighted(30, 8, 1);
  const auto part_of = testing::random_parts(30, 2, 2);
  const std::vector<std::uint8_t> side_of(part_of.begin(), part_of.end());
  const auto both = halves(graph, side_of);
  const auto parts = split(graph, part_of, 2);
  EXPECT_EQ(both.first.original, parts[0].original);
  EXPECT_EQ(both.second.original, parts[1].original);
  EXPECT_EQ(weights_of(both.first.graph), weights_of(parts[0].graph));
  EXPECT_EQ(weights_of(both.second.graph), weights_of(parts[1].graph));
}

}  // namespace
}  // namespace rankloom::multilevel
