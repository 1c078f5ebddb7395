// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/kway_partition.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using BlockWeights = std::vector<std::uint64_t>;

/// Checks that the reported cut is right and that no block exceeds its maximum weight.
KWayPartition partition_and_check(const WeightedGraph& graph, const BlockWeights& max_block_weight, std::uint64_t seed,
                                  const PartitionOptions& options = {}) {
  auto result = partition_kway(graph, max_block_weight, options, seed);
  EXPECT_EQ(result.block_of.size(), graph.vertex_count());
  EXPECT_NEAR(result.cut, testing::cut_of(graph, result.block_of), 1e-6 * result.cut);
  EXPECT_EQ(testing::overload_of(graph, result.block_of, max_block_weight), 0);
  return result;
}

PartitionOptions with_repetitions(std::uint32_t repetitions) {
  PartitionOptions options;
  options.repetitions = repetitions;
  return options;
}

TEST(PartitionKway, GivesEveryCliqueOfARingItsBlock) {
  std::vector<testing::UndirectedEdge> edge_list;
  for (std::uint32_t clique = 0; clique < 5; ++clique) {
    testing::add_clique(edge_list, 8 * clique, 8);
    edge_list.push_back({8 * clique, (8 * clique + 12) % 40});
  }
  EXPECT_EQ(partition_and_check(testing::graph_of(40, edge_list), BlockWeights(5, 8), 1).cut, 5);
  EXPECT_EQ(partition_and_check(testing::graph_of(40, edge_list), BlockWeights(5, 9), 1).cut, 5);
}

TEST(PartitionKway, KeepsUnevenBlockWeightsWithoutSlack) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const auto graph = testing::random_weighted(700, 5, seed);
    // The coarsest graph has vertices of larger weight, which do not fill the blocks evenly.
    for (const std::uint32_t vertices_per_block : {5U, 30U, 100U}) {
      PartitionOptions options;
      options.vertices_per_block = vertices_per_block;
      partition_and_check(graph, {101, 57, 1, 230, 111, 200}, seed, options);
      partition_and_check(graph, {33, 667}, seed, options);
      partition_and_check(graph, BlockWeights(7, 100), seed, options);
      partition_and_check(graph, BlockWeights(100, 7), seed, options);
    }
  }
}

TEST(PartitionKway, AllowsEmptyBlocksAndBlocksWithoutCapacity) {
  partition_and_check(testing::square(4), {0, 8, 0, 8}, 1);
  partition_and_check(testing::graph_of(3, {}), BlockWeights(8, 1), 1);
  EXPECT_EQ(partition_and_check(testing::square(4), BlockWeights(3, 16), 1).cut, 0);
}

TEST(PartitionKway, KeepsTheBlockWeightsWhenTheDeadlineHasPassed) {
  PartitionOptions options;
  options.deadline = Deadline::in(std::chrono::milliseconds(0));
  options.vertices_per_block = 5;
  const BlockWeights max_block_weight{101, 57, 1, 230, 111, 200};
  const auto result = partition_kway(testing::random_weighted(700, 5, 1), max_block_weight, options, 1);
  EXPECT_EQ(testing::overload_of(testing::random_weighted(700, 5, 1), result.block_of, max_block_weight), 0);
}

TEST(PartitionKway, PartitionsASquareIntoFourWithANearlyMinimalCut) {
  EXPECT_LE(partition_and_check(testing::square(48), BlockWeights(4, 594), 1, with_repetitions(4)).cut, 1.1 * 96);
  EXPECT_LE(partition_and_check(testing::square(48), BlockWeights(4, 576), 1, with_repetitions(4)).cut, 1.4 * 96);
}

TEST(PartitionKway, RunsRecombinationsAndVCyclesNeverCutMore) {
  const auto graph = testing::square(70);
  PartitionOptions once;
  once.vertices_per_block = 20;
  PartitionOptions several = once, with_cycle = once;
  several.runs = 4;
  PartitionOptions recombined = several;
  recombined.recombinations = 6;
  with_cycle.v_cycles = 1;
  double sum_once = 0, sum_several = 0, sum_recombined = 0, sum_with_cycle = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const BlockWeights max_block_weight(7, 720);
    const double cut = partition_and_check(graph, max_block_weight, seed, once).cut;
    const double cut_of_several = partition_and_check(graph, max_block_weight, seed, several).cut;
    const double cut_with_cycle = partition_and_check(graph, max_block_weight, seed, with_cycle).cut;
    const double cut_of_recombined = partition_and_check(graph, max_block_weight, seed, recombined).cut;
    EXPECT_LE(cut_of_several, cut);
    EXPECT_LE(cut_of_recombined, cut_of_several);
    EXPECT_LE(cut_with_cycle, cut);
    sum_once += cut;
    sum_several += cut_of_several;
    sum_recombined += cut_of_recombined;
    sum_with_cycle += cut_with_cycle;
  }
  EXPECT_LT(sum_several, sum_once);
  EXPECT_LT(sum_recombined, sum_several);
  EXPECT_LT(sum_with_cycle, sum_once);
}

TEST(PartitionKway, AnnealsGraphsThatResistCoarsening) {
  PartitionOptions annealed;
  annealed.annealing_sweeps = 200;
  const auto random = testing::random_weighted(4000, 8, 1);
  for (const std::uint64_t seed : {1, 2, 3})
    EXPECT_LT(partition_and_check(random, BlockWeights(6, 687), seed, annealed).cut,
              partition_and_check(random, BlockWeights(6, 687), seed).cut);
  const auto without_slack = partition_and_check(random, BlockWeights(5, 800), 1, annealed).block_of;
  EXPECT_EQ(without_slack, partition_and_check(random, BlockWeights(5, 800), 1).block_of);
  for (const std::uint32_t side : {36U, 48U, 60U}) {
    const auto mesh = testing::square(side);
    const BlockWeights max_block_weight(6, side * side * 103 / 600);
    for (const std::uint32_t vertices_per_block : {100U, 300U}) {
      PartitionOptions usual;
      usual.vertices_per_block = annealed.vertices_per_block = vertices_per_block;
      EXPECT_EQ(partition_and_check(mesh, max_block_weight, 1, annealed).block_of,
                partition_and_check(mesh, max_block_weight, 1, usual).block_of)
          << side;
    }
  }
}

TEST(PartitionKway, IsTheSameForAnyNumberOfThreads) {
  PartitionOptions options = with_repetitions(3);
  options.runs = 3;
  // The first two runs of the cliques are alike, so that the third one is ignored.
  std::vector<testing::UndirectedEdge> edge_list;
  for (std::uint32_t clique = 0; clique < 60; ++clique) {
    testing::add_clique(edge_list, 20 * clique, 20);
    edge_list.push_back({20 * clique, (20 * clique + 20) % 1200});
  }
  const auto square = testing::square(80), cliques = testing::graph_of(1200, edge_list);
  for (const auto* const graph : {&square, &cliques}) {
    const BlockWeights max_block_weight(6, graph->vertex_count() / 6 + 35);
    for (const std::uint32_t recombinations : {0U, 2U}) {
      options.recombinations = recombinations;
      std::vector<Array<std::uint32_t>> results;
      for (const std::size_t threads : {1, 2, 4}) {
        const ThreadLimit limit(threads);
        results.push_back(partition_and_check(*graph, max_block_weight, 3, options).block_of);
      }
      EXPECT_EQ(results[0], results[1]);
      EXPECT_EQ(results[0], results[2]);
    }
  }
}

}  // namespace
}  // namespace rankloom::multilevel
