// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/coarsening/contraction.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

template <class Graph>
std::vector<std::pair<std::uint32_t, float>> row_of(const Graph& graph, std::uint32_t vertex) {
  std::vector<std::pair<std::uint32_t, float>> row;
  for (const Edge edge : graph.edges(vertex)) row.emplace_back(edge.to, edge.weight);
  return row;
}

template <class A, class B>
void expect_equal(const A& a, const B& b) {
  ASSERT_EQ(a.vertex_count(), b.vertex_count());
  EXPECT_EQ(a.max_vertex_weight(), b.max_vertex_weight());
  for (std::uint32_t vertex = 0; vertex < a.vertex_count(); ++vertex) {
    ASSERT_EQ(row_of(a, vertex), row_of(b, vertex));
    ASSERT_EQ(a.vertex_weight(vertex), b.vertex_weight(vertex));
  }
}

WeightedGraph with_vertex_weights(std::uint32_t vertices, std::uint64_t seed) {
  std::vector<std::uint32_t> vertex_weights(vertices);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) vertex_weights[vertex] = 1 + vertex % 3;
  return testing::graph_of(vertices, testing::random_edges(vertices, 6, seed), vertex_weights);
}

TEST(Contract, GivesTheSameGraphForAMatchingAndForItsGroups) {
  for (const auto& graph : {testing::square(120), with_vertex_weights(2000, 1)}) {  // the first needs several chunks
    const Matching matching = heavy_edge_matching(graph, 6, 1);
    const MatchedPairs pairs(matching);
    std::vector<std::vector<std::uint32_t>> members(matching.coarse_count);
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
      members[matching.coarse_of[vertex]].push_back(vertex);
    for (std::uint32_t coarse = 0; coarse < pairs.count(); ++coarse)
      ASSERT_TRUE(std::ranges::equal(pairs[coarse], members[coarse]));
    expect_equal(contract(graph, matching), contract(graph, matching.coarse_of, matching.coarse_count));
  }
}

TEST(ContractionView, IsTheContraction) {
  for (const auto& graph : {testing::square(120), with_vertex_weights(2000, 2)}) {
    const Matching first = heavy_edge_matching(graph, 6, 1);
    const WeightedGraph contracted = contract(graph, first);
    const ContractionView view(graph, first);
    expect_equal(view, contracted);
    const Matching second = heavy_edge_matching(contracted, 6, 2);
    const Matching second_of_view = heavy_edge_matching(view, 6, 2);
    ASSERT_EQ(second.coarse_of, second_of_view.coarse_of);
    expect_equal(contract(view, second_of_view), contract(contracted, second));
  }
}

TEST(GraphHierarchy, HasTheSameLevelsWhetherTheFirstIsStoredOrRecomputed) {
  for (const bool within_blocks : {false, true}) {
    for (const std::size_t threads : {1, 3}) {
      const ThreadLimit limit(threads);
      const auto graph = testing::square(100);
      GraphHierarchy stored(graph), recomputed(graph, FirstLevel::recomputed);
      Array<std::uint32_t> blocks;
      for (GraphHierarchy* const hierarchy : {&stored, &recomputed}) {
        const auto partition = testing::random_partition(graph.vertex_count(), 3, 1);
        Array<std::uint32_t> block_of(partition.begin(), partition.end());
        if (within_blocks) {
          hierarchy->coarsen_within_blocks(500, 40, 1, block_of);
          EXPECT_TRUE(blocks.empty() || blocks == block_of);
          blocks = block_of;
        } else {
          hierarchy->coarsen(500, 40, 1);
        }
      }
      std::uint32_t levels = 1;
      std::vector<std::uint32_t> number(stored.coarsest().vertex_count());
      std::iota(number.begin(), number.end(), 0U);
      for (; !stored.is_finest(); ++levels) {
        ASSERT_FALSE(recomputed.is_finest());
        expect_equal(recomputed.coarsest(), stored.coarsest());
        auto finer = stored.uncoarsen(number);
        ASSERT_EQ(recomputed.uncoarsen(number), finer);
        number = std::move(finer);
      }
      EXPECT_TRUE(recomputed.is_finest());
      EXPECT_GE(levels, 4);
      EXPECT_EQ(number.size(), graph.vertex_count());
    }
  }
}

TEST(GraphHierarchy, GivesUpOnGraphsThatStayDense) {
  const auto mesh = testing::square(80);
  const auto random = testing::random_weighted(3000, 8, 1);
  for (const FirstLevel first_level : {FirstLevel::stored, FirstLevel::recomputed}) {
    for (const auto* const graph : {&mesh, &random}) {
      GraphHierarchy hierarchy(*graph, first_level);
      const bool coarsened =
          hierarchy.coarsen_unless_dense(graph->vertex_count() / 3, 6, 1, 2 * graph->edge_count() / 3);
      EXPECT_EQ(coarsened, graph == &mesh);
      EXPECT_EQ(hierarchy.is_finest(), graph == &random);
    }
  }
}

TEST(GraphHierarchy, KeepsGraphsThatDoNotShrink) {
  const auto isolated = testing::graph_of(50, {});
  GraphHierarchy hierarchy(isolated, FirstLevel::recomputed);
  hierarchy.coarsen(10, 4, 1);
  EXPECT_TRUE(hierarchy.is_finest());
  // Two vertices can be matched once, and then no more.
  const auto pairs = testing::square(30);
  GraphHierarchy once(pairs, FirstLevel::recomputed);
  once.coarsen(10, 2, 1);
  EXPECT_FALSE(once.is_finest());
  EXPECT_EQ(once.coarsest().max_vertex_weight(), 2);
  once.uncoarsen(std::vector<std::uint32_t>(once.coarsest().vertex_count(), 0));
  EXPECT_TRUE(once.is_finest());
}

}  // namespace
}  // namespace rankloom::multilevel
