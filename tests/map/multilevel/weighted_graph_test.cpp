// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/coarsening/contraction.hpp"
#include "rankloom/map/multilevel/traffic_graph.hpp"
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

TEST(WeightedGraph, AddsUpBothDirectionsAndHasNoLoops) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 10);
  builder.add(Rank{1}, Rank{0}, 5);
  builder.add(Rank{2}, Rank{2}, 7);
  builder.add(Rank{3}, Rank{1}, 2);
  const auto problem = make_problem(std::move(builder).build(true), topology("node:2=10 core:2=1"));
  const auto graph = weighted_graph(problem.view());
  EXPECT_EQ(weights_of(graph), (Weights{{{0, 1}, 15}, {{1, 0}, 15}, {{1, 3}, 2}, {{3, 1}, 2}}));
  EXPECT_EQ(graph.total_vertex_weight(), 4);
  EXPECT_EQ(graph.max_vertex_weight(), 1);
}

TEST(WeightedGraph, IsEmptyWithoutRanks) {
  EXPECT_EQ(WeightedGraph().vertex_count(), 0);
  const auto problem = make_problem(CommGraphBuilder(0).build(false), topology("core:2"));
  EXPECT_EQ(weighted_graph(problem.view()).vertex_count(), 0);
}

TEST(OrderedGraph, IsTheWeightedGraphInBreadthFirstOrder) {
  constexpr std::uint32_t ranks = 40'000;
  for (const bool symmetric : {true, false}) {
    CommGraphBuilder builder(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (const std::uint32_t distance : {3001U, 13'007U}) {
        builder.add(Rank{rank}, Rank{(rank + distance) % ranks}, 1 + rank % 5);
        if (symmetric) builder.add(Rank{(rank + distance) % ranks}, Rank{rank}, 2 + rank % 3);
      }
    }
    const auto problem = make_problem(std::move(builder).build(true), topology("node:200=10 core:200=1"));
    std::vector<std::uint32_t> loads(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) loads[rank] = 1 + rank % 7;
    const auto plain = weighted_graph(problem.view(), loads);
    EXPECT_EQ(plain.edge_count(), 4 * ranks);
    const auto [graph, order] = ordered_graph(problem.view(), loads);
    ASSERT_EQ(order, bfs_order(plain)) << symmetric;
    ASSERT_EQ(order.size(), ranks);
    const auto renumbered = renumber(plain, order);
    EXPECT_EQ(weights_of(graph), weights_of(renumbered)) << symmetric;
    for (std::uint32_t vertex = 0; vertex < ranks; ++vertex)
      ASSERT_EQ(graph.vertex_weight(vertex), loads[order[vertex]]);
  }
}

TEST(OrderedGraph, KeepsTheOrderOfFewRanks) {
  CommGraphBuilder builder(3);
  builder.add(Rank{2}, Rank{0}, 10);
  builder.add(Rank{0}, Rank{2}, 5);
  const auto problem = make_problem(std::move(builder).build(true), topology("node:2=10 core:2=1"));
  const auto [graph, order] = ordered_graph(problem.view());
  EXPECT_TRUE(order.empty());
  EXPECT_EQ(weights_of(graph), (Weights{{{0, 2}, 15}, {{2, 0}, 15}}));
}

/// Three edges per vertex to vertices with distant numbers.
WeightedGraph long_edges(std::uint32_t vertices) {
  std::vector<testing::UndirectedEdge> edge_list;
  for (std::uint32_t at = 0; at < vertices; ++at) {
    for (const std::uint32_t distance : {1009U, 4643U, 12'007U})
      edge_list.push_back({at, (at + distance) % vertices, static_cast<float>(1 + at % 5)});
  }
  return testing::graph_of(vertices, edge_list);
}

TEST(Contract, KeepsTheWeightBetweenGroups) {
  for (const std::uint32_t groups : {1U, 7U, 40U, 6000U}) {  // the last one needs several chunks
    const std::uint32_t vertices = groups < 1000 ? 80 : 9000;
    std::vector<testing::UndirectedEdge> edge_list;
    if (groups < 1000) {
      edge_list = testing::random_edges(vertices, 10, groups);
    } else {
      for (std::uint32_t at = 0; at + 7 < vertices; ++at)
        edge_list.push_back({at, at + 1 + at % 7, static_cast<float>(1 + at % 5)});
    }
    std::vector<std::uint32_t> vertex_weights(vertices);
    for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) vertex_weights[vertex] = 1 + vertex % 3;
    const auto graph = testing::graph_of(vertices, edge_list, vertex_weights);
    auto group_of = testing::random_partition(vertices, groups, 3);
    for (std::uint32_t group = 0; group < groups; ++group) group_of[group] = group;  // none is empty
    Weights between;
    for (const auto& [pair, weight] : weights_of(graph)) {
      const std::uint32_t from = group_of[pair.first], to = group_of[pair.second];
      if (from != to) between[{from, to}] += weight;
    }
    const auto coarse = contract(graph, group_of, groups);
    ASSERT_EQ(coarse.vertex_count(), groups);
    EXPECT_EQ(weights_of(coarse), between);
    EXPECT_EQ(coarse.edge_count(), between.size());  // one entry per neighbour
    EXPECT_EQ(coarse.total_vertex_weight(), graph.total_vertex_weight());
    const auto group_weight = testing::block_weights_of(graph, group_of, groups);
    for (std::uint32_t group = 0; group < groups; ++group) EXPECT_EQ(coarse.vertex_weight(group), group_weight[group]);
  }
}

TEST(BlockMembers, HaveTheSubgraphsWithTheEdgesInsideEachBlock) {
  for (const auto& graph :
       {testing::random_weighted(60, 12, 1), long_edges(30'000)}) {  // the latter needs several chunks
    const auto block_of = testing::random_partition(graph.vertex_count(), 4, 2);
    const BlockMembers blocks(block_of, 5);
    EXPECT_TRUE(blocks[4].empty());
    EXPECT_EQ(blocks.subgraph(graph, 4).vertex_count(), 0);
    Weights inside;
    for (const auto& [pair, weight] : weights_of(graph)) {
      if (block_of[pair.first] == block_of[pair.second]) inside[pair] = weight;
    }
    Weights found;
    std::size_t vertices = 0;
    for (std::uint32_t block = 0; block < 5; ++block) {
      const auto original = blocks[block];
      vertices += original.size();
      EXPECT_TRUE(std::is_sorted(original.begin(), original.end()));
      for (const std::uint32_t vertex : original) ASSERT_EQ(block_of[vertex], block);
      for (const auto& [pair, weight] : weights_of(blocks.subgraph(graph, block)))
        found[{original[pair.first], original[pair.second]}] = weight;
    }
    EXPECT_EQ(vertices, graph.vertex_count());
    EXPECT_EQ(found, inside);
  }
}

TEST(BlockMembers, KeepVertexWeightsAndUniformEdges) {
  CommGraphBuilder builder(10'000);
  for (std::uint32_t rank = 0; rank < 10'000; ++rank) {
    builder.add(Rank{rank}, Rank{(rank + 7) % 10'000}, 3);
    builder.add(Rank{(rank + 7) % 10'000}, Rank{rank}, 3);
  }
  const auto problem = make_problem(std::move(builder).build(true), topology("node:100=10 core:100=1"));
  std::vector<std::uint32_t> loads(10'000);
  for (std::uint32_t rank = 0; rank < 10'000; ++rank) loads[rank] = 1 + rank % 3;
  const auto graph = weighted_graph(problem.view(), loads);
  EXPECT_TRUE(graph.has_uniform_edges());
  const auto block_of = testing::random_partition(10'000, 2, 1);
  const BlockMembers blocks(block_of, 2);
  const auto subgraph = blocks.subgraph(graph, 1);
  EXPECT_TRUE(subgraph.has_uniform_edges());
  for (const auto& [pair, weight] : weights_of(subgraph)) ASSERT_EQ(weight, 6);
  for (std::uint32_t vertex = 0; vertex < subgraph.vertex_count(); ++vertex)
    ASSERT_EQ(subgraph.vertex_weight(vertex), loads[blocks[1][vertex]]);
}

TEST(WeightedGraph, StoresTheWeightOfUniformEdgesOnce) {
  for (const double other : {2.0, 2.5}) {
    CommGraphBuilder builder(100);
    for (std::uint32_t rank = 0; rank + 1 < 100; ++rank) {
      builder.add(Rank{rank}, Rank{rank + 1}, rank == 50 ? other : 2);
      builder.add(Rank{rank + 1}, Rank{rank}, 2);
    }
    const auto problem = make_problem(std::move(builder).build(true), topology("node:10=10 core:10=1"));
    const auto graph = weighted_graph(problem.view());
    EXPECT_EQ(graph.has_uniform_edges(), other == 2);
    EXPECT_EQ(graph.edge_count(), 198);
    Weights expected;
    for (std::uint32_t rank = 0; rank + 1 < 100; ++rank)
      expected[{rank, rank + 1}] = expected[{rank + 1, rank}] = rank == 50 ? 2 + other : 4;
    EXPECT_EQ(weights_of(graph), expected);
    EXPECT_EQ(graph.edges(50)[1].to, 51);
    EXPECT_EQ(graph.edges(50)[1].weight, static_cast<float>(2 + other));
  }
}

TEST(RowOffsets, AreTheSameForFewEdgesAndForMoreThan32Bits) {
  for (const std::uint64_t max_edges : {std::uint64_t{100}, std::uint64_t{1} << 33}) {
    RowOffsets offsets(3, max_edges);
    const std::uint64_t large = max_edges / 2;
    offsets.set_degree(2, large);
    offsets.set_degree(0, 7);
    offsets.set_degree(1, 0);
    offsets.add_up();
    EXPECT_EQ(offsets.row_count(), 3);
    EXPECT_EQ(offsets[0], 0);
    EXPECT_EQ(offsets[1], 7);
    EXPECT_EQ(offsets[2], 7);
    EXPECT_EQ(offsets.edge_count(), 7 + large);
  }
}

TEST(SideSubgraphs, AreTheSubgraphsOfTwoBlocks) {
  const auto graph = testing::random_weighted(30, 8, 1);
  const auto block_of = testing::random_partition(30, 2, 2);
  const auto sides = side_subgraphs(graph, std::vector<std::uint8_t>(block_of.begin(), block_of.end()));
  const BlockMembers blocks(block_of, 2);
  EXPECT_TRUE(std::ranges::equal(sides.first.original, blocks[0]));
  EXPECT_TRUE(std::ranges::equal(sides.second.original, blocks[1]));
  EXPECT_EQ(weights_of(sides.first.graph), weights_of(blocks.subgraph(graph, 0)));
  EXPECT_EQ(weights_of(sides.second.graph), weights_of(blocks.subgraph(graph, 1)));
}

std::vector<std::uint32_t> shuffled_numbers(std::uint32_t count) {
  std::vector<std::uint32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  Random(1).shuffle(std::span(numbers));
  return numbers;
}

/// The mean difference between the numbers of neighbours.
double mean_edge_span(const WeightedGraph& graph) {
  double span = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    for (const Edge edge : graph.edges(vertex)) span += std::max(edge.to, vertex) - std::min(edge.to, vertex);
  }
  return span / static_cast<double>(graph.edge_count());
}

TEST(BfsOrder, GivesNeighboursCloseNumbers) {
  const auto graph = renumber(testing::square(190), shuffled_numbers(190 * 190));
  auto order = bfs_order(graph);
  ASSERT_EQ(order.size(), graph.vertex_count());
  EXPECT_LT(mean_edge_span(renumber(graph, order)), 0.05 * mean_edge_span(graph));
  std::sort(order.begin(), order.end());
  for (std::uint32_t at = 0; at < order.size(); ++at) ASSERT_EQ(order[at], at);
}

TEST(BfsOrder, IsTheSameForAnyNumberOfThreads) {
  const auto graph = long_edges(100'000);
  const auto order_with = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return bfs_order(graph);
  };
  const auto alone = order_with(1);
  ASSERT_EQ(alone.size(), graph.vertex_count());
  EXPECT_EQ(order_with(2), alone);
  EXPECT_EQ(order_with(5), alone);
}

TEST(BfsOrder, KeepsLocalOrdersAndSmallGraphs) {
  EXPECT_TRUE(bfs_order(testing::square(190)).empty());
  EXPECT_TRUE(bfs_order(renumber(testing::square(20), shuffled_numbers(400))).empty());
}

TEST(Renumber, GivesTheSameGraphWithOtherNumbers) {
  const auto edge_list = testing::random_edges(50, 8, 1);
  std::vector<std::uint32_t> vertex_weights(50);
  for (std::uint32_t vertex = 0; vertex < 50; ++vertex) vertex_weights[vertex] = 1 + vertex % 4;
  const auto graph = testing::graph_of(50, edge_list, vertex_weights);
  const auto order = shuffled_numbers(50);
  const auto other = renumber(graph, order);
  for (std::uint32_t at = 0; at < 50; ++at) {
    EXPECT_EQ(other.vertex_weight(at), graph.vertex_weight(order[at]));
    ASSERT_EQ(other.edges(at).size(), graph.edges(order[at]).size());
    for (std::size_t edge = 0; edge < other.edges(at).size(); ++edge) {
      EXPECT_EQ(order[other.edges(at)[edge].to], graph.edges(order[at])[edge].to);
      EXPECT_EQ(other.edges(at)[edge].weight, graph.edges(order[at])[edge].weight);
    }
  }
}

}  // namespace
}  // namespace rankloom::multilevel
