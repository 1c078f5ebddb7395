// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/fm_kway.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"
#include "tests/support/instances.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::topology;
using BlockWeights = std::vector<std::uint64_t>;

TEST(FmKwayCut, ReducesTheCutAndReportsIt) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    const auto graph = testing::random_weighted(120, 5, seed);
    for (const std::uint64_t slack : {0, 1, 10}) {
      auto block_of = testing::balanced_partition(120, 6, seed);
      const double before = testing::cut_of(graph, block_of);
      const BlockWeights max_block_weight(6, 20 + slack);
      const double cut = fm_kway_cut(graph, max_block_weight, block_of, 5);
      EXPECT_LT(cut, 0.9 * before);
      EXPECT_DOUBLE_EQ(cut, testing::cut_of(graph, block_of));
      EXPECT_EQ(testing::overload_of(graph, block_of, max_block_weight), 0);
    }
  }
}

TEST(FmKwayCut, SupportsVerticesOfDifferentWeights) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    std::vector<std::uint32_t> vertex_weights(90);
    for (std::uint32_t vertex = 0; vertex < 90; ++vertex) vertex_weights[vertex] = 1 + vertex % 3;
    const auto graph = testing::graph_of(90, testing::random_edges(90, 5, seed), vertex_weights);
    auto block_of = testing::balanced_partition(90, 5, seed);
    auto max_block_weight = testing::block_weights_of(graph, block_of, 5);
    for (std::uint64_t& weight : max_block_weight) weight += 2;
    const double before = testing::cut_of(graph, block_of);
    const double cut = fm_kway_cut(graph, max_block_weight, block_of, 5);
    EXPECT_LE(cut, before);
    EXPECT_DOUBLE_EQ(cut, testing::cut_of(graph, block_of));
    EXPECT_EQ(testing::overload_of(graph, block_of, max_block_weight), 0);
  }
}

TEST(FmKwayCut, FindsCyclicExchangesBetweenFullBlocks) {
  // Three cliques in three full blocks; one vertex of each has to move to the next block.
  std::vector<testing::UndirectedEdge> edge_list;
  for (const std::uint32_t first : {0, 6, 12}) testing::add_clique(edge_list, first, 6);
  std::vector<std::uint32_t> block_of(18);
  for (std::uint32_t vertex = 0; vertex < 18; ++vertex) block_of[vertex] = vertex / 6;
  block_of[0] = 1;
  block_of[6] = 2;
  block_of[12] = 0;
  EXPECT_EQ(fm_kway_cut(testing::graph_of(18, edge_list), BlockWeights(3, 6), block_of, 5), 0);
}

/// Without slack, the boundary vertices are evaluated in parallel.
TEST(FmKwayCut, GivesTheSameBlocksOnAnyNumberOfThreads) {
  const auto graph = testing::random_weighted(2000, 5, 1);
  for (const std::uint64_t slack : {0, 10}) {
    const BlockWeights max_block_weight(20, 100 + slack);
    std::vector<std::vector<std::uint32_t>> results;
    for (const std::size_t threads : {1, 2, 3, 8}) {
      const ThreadLimit limit(threads);
      results.push_back(testing::balanced_partition(2000, 20, 1));
      fm_kway_cut(graph, max_block_weight, results.back(), 5);
      EXPECT_EQ(results.back(), results.front()) << threads << " threads";
    }
    EXPECT_EQ(testing::overload_of(graph, results[0], max_block_weight), 0);
  }
}

TEST(FmKwayCut, RelievesOverloadedBlocks) {
  const auto graph = testing::square(10);
  std::vector<std::uint32_t> block_of(100, 0);
  for (std::uint32_t vertex = 60; vertex < 100; ++vertex) block_of[vertex] = 1;
  fm_kway_cut(graph, BlockWeights{50, 50}, block_of, 10);
  EXPECT_EQ(testing::block_weights_of(graph, block_of, 2), (BlockWeights{50, 50}));
}

TEST(FmKwayCut, ChangesNothingWithoutEdgesOrPasses) {
  auto block_of = testing::balanced_partition(10, 2, 1);
  const auto before = block_of;
  EXPECT_EQ(fm_kway_cut(testing::graph_of(10, {}), BlockWeights{5, 5}, block_of, 3), 0);
  EXPECT_EQ(block_of, before);
  const auto graph = testing::random_weighted(10, 4, 1);
  EXPECT_EQ(fm_kway_cut(graph, BlockWeights{5, 5}, block_of, 0), testing::cut_of(graph, before));
  EXPECT_EQ(block_of, before);
}

class FmKwayMapping : public ::testing::TestWithParam<CostModel> {};

TEST_P(FmKwayMapping, ReducesTheCostAndReportsIt) {
  for (const char* machine : {"node:3=10,1us core:4=1,0.1us", "switch:2=9,2us node:3=4,1us core:2=1,0.1us",
                              "torus:3x4=5,1us core:1=1", "node:3=10,1us core:2+7+3=1,0.1us"}) {
    const auto cores = topology(machine);
    const Distance distance = make_distance(cores, GetParam());
    const auto block_distance = [&](std::uint32_t p, std::uint32_t q) {
      return std::visit([&](const auto& d) { return d(Core{p}, Core{q}).per_byte; }, distance);
    };
    for (const std::uint64_t seed : {1, 2, 3}) {
      SCOPED_TRACE(::testing::Message() << machine << " " << seed);
      const auto graph = testing::random_weighted(96, 5, seed);
      for (const std::uint64_t slack : {0, 1, 8}) {
        const BlockWeights max_block_weight(12, 8 + slack);
        auto core_of = testing::balanced_partition(96, 12, seed);
        const double before = testing::cost_of(graph, core_of, block_distance);
        const double cost = fm_kway_mapping(graph, distance, max_block_weight, core_of, 4);
        EXPECT_LT(cost, before);
        EXPECT_NEAR(cost, testing::cost_of(graph, core_of, block_distance), 1e-9 * std::abs(before));
        EXPECT_EQ(testing::overload_of(graph, core_of, max_block_weight), 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FmKwayMapping,
                         ::testing::Values(CostModel::bytes, CostModel::time, CostModel::hopbytes, CostModel::quality),
                         [](const auto& tested) { return std::string(rankloom::info(tested.param).name); });

TEST(FmKwayGrouping, CountsTheDistanceInExcessOfThatInsideABlock) {
  const auto machine = topology("switch:3=100 node:4=10 core:2=1");
  const Distance distance = make_distance(machine, CostModel::bytes);
  const auto block_distance = [](std::uint32_t p, std::uint32_t q) { return p == q ? 0.0 : 90.0; };
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto graph = testing::random_weighted(12, 4, seed);  // one vertex per node
    auto switch_of = testing::balanced_partition(12, 3, seed);
    const double before = testing::cost_of(graph, switch_of, block_distance);
    const BlockWeights max_block_weight(3, 4);
    const double cost = fm_kway_grouping(graph, distance, 8, 2, max_block_weight, switch_of, 5);
    EXPECT_LE(cost, before);
    EXPECT_DOUBLE_EQ(cost, testing::cost_of(graph, switch_of, block_distance));
    EXPECT_EQ(testing::overload_of(graph, switch_of, max_block_weight), 0);
  }
}

}  // namespace
}  // namespace rankloom::multilevel
