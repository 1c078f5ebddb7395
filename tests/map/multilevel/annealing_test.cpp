// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/annealing.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using BlockWeights = std::vector<std::uint64_t>;
using Blocks = Array<std::uint32_t>;

/// Every vertex in its own block: all edges are cut.
Blocks consecutive_numbers(std::uint32_t count) {
  Blocks numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0U);
  return numbers;
}

TEST(Annealing, SeparatesCliquesWithHardlyAnyEdgesBetweenThem) {
  std::vector<testing::UndirectedEdge> edge_list;
  for (std::uint32_t clique = 0; clique < 4; ++clique) {
    testing::add_clique(edge_list, 30 * clique, 30);
    edge_list.push_back({30 * clique, (30 * clique + 45) % 120});
  }
  const auto graph = testing::graph_of(120, edge_list);
  for (const std::uint64_t seed : {1, 2, 3})
    EXPECT_EQ(testing::cut_of(graph, annealed_partition(graph, BlockWeights(4, 36), {.sweeps = 400}, seed)), 4);
}

TEST(Annealing, MoreSweepsCutLess) {
  const auto graph = testing::random_weighted(3000, 8, 1);
  double previous = testing::cut_of(graph, annealed_partition(graph, BlockWeights(6, 515), {.sweeps = 1}, 1));
  for (const std::uint32_t sweeps : {20U, 200U, 2000U}) {
    const double cut = testing::cut_of(graph, annealed_partition(graph, BlockWeights(6, 515), {.sweeps = sweeps}, 1));
    EXPECT_LT(cut, 0.99 * previous) << sweeps;
    previous = cut;
  }
}

TEST(Annealing, KeepsUnevenBlockWeights) {
  const auto graph = testing::random_weighted(2000, 6, 2);
  const BlockWeights max_block_weight{600, 0, 101, 900, 480, 5};
  const Blocks block_of = annealed_partition(graph, max_block_weight, {.sweeps = 100}, 1);
  EXPECT_EQ(testing::overload_of(graph, block_of, max_block_weight), 0);
  EXPECT_EQ(std::count(block_of.begin(), block_of.end(), 1U), 0);
}

TEST(Annealing, CountsVertexWeights) {
  Random random(3, 3);
  std::vector<std::uint32_t> weights(1000);
  for (std::uint32_t& weight : weights) weight = static_cast<std::uint32_t>(1 + random.below(9));
  const auto graph = testing::graph_of(1000, testing::random_edges(1000, 6, 3), weights);
  const BlockWeights max_block_weight(5, graph.total_vertex_weight() * 11 / 50);
  EXPECT_EQ(
      testing::overload_of(graph, annealed_partition(graph, max_block_weight, {.sweeps = 100}, 1), max_block_weight),
      0);
}

TEST(Annealing, GivesTheSameBlocksOnAnyNumberOfThreads) {
  const auto graph = testing::random_weighted(20'000, 4, 4);
  const BlockWeights max_block_weight(3, 6800);
  Blocks one_thread;
  {
    const ThreadLimit limit(1);
    one_thread = annealed_partition(graph, max_block_weight, {.sweeps = 20}, 7);
  }
  for (const std::size_t threads : {2, 3, 8}) {
    const ThreadLimit limit(threads);
    EXPECT_EQ(annealed_partition(graph, max_block_weight, {.sweeps = 20}, 7), one_thread) << threads;
  }
}

TEST(Annealing, EndsAtItsDeadlineWithoutLosses) {
  const auto graph = testing::random_weighted(2000, 8, 5);
  const BlockWeights max_block_weight(4, 550);
  const double cut_by_chance = 0.75 * testing::cut_of(graph, consecutive_numbers(2000));
  constexpr std::uint32_t endless = 4'000'000'000;
  for (const int budget : {0, 200}) {
    const Blocks block_of =
        annealed_partition(graph, max_block_weight, {endless, Deadline::in(std::chrono::milliseconds(budget))}, 1);
    EXPECT_EQ(testing::overload_of(graph, block_of, max_block_weight), 0) << budget;
    EXPECT_LT(testing::cut_of(graph, block_of), 0.9 * cut_by_chance) << budget;
  }
}

TEST(Annealing, AcceptsGraphsWithoutEdgesOrVertices) {
  EXPECT_TRUE(annealed_partition(testing::graph_of(0, {}), BlockWeights(2, 5), {}, 1).empty());
  EXPECT_EQ(testing::overload_of(testing::graph_of(90, {}),
                                 annealed_partition(testing::graph_of(90, {}), BlockWeights(3, 32), {}, 1),
                                 BlockWeights(3, 32)),
            0);
}

}  // namespace
}  // namespace rankloom::multilevel
