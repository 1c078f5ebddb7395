// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/embedding/rank_order_embedding.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::random_graph;
using testing::topology;

constexpr RankOrderLimits limits{.max_visits = 1U << 22};

/// Every rank communicates with the ranks whose numbers differ in one bit.
CommGraph hypercube(std::uint32_t bits) {
  CommGraphBuilder builder(1U << bits);
  for (std::uint32_t rank = 0; rank < 1U << bits; ++rank) {
    for (std::uint32_t bit = 0; bit < bits; ++bit) builder.add(Rank{rank}, Rank{rank ^ (1U << bit)}, 100);
  }
  return std::move(builder).build(false);
}

TEST(RankOrderEmbedding, PlacesAHypercubeOnATorusWithOneHopPerEdge) {
  const auto problem = make_problem(hypercube(6), topology("torus:4x4x4=1"));
  const auto core_of = embed_rank_order(problem.view(), limits);
  ASSERT_TRUE(core_of);
  EXPECT_TRUE(Mapping::create(*core_of, problem.topology, problem.capacities));
  EXPECT_DOUBLE_EQ(problem.cost(*core_of), 64 * 6 * 100);
}

TEST(RankOrderEmbedding, CostsNoMoreThanTheBlockPlacement) {
  for (const char* const machine :
       {"torus:4x4x4=1", "mesh:8x4=3 core:2=1", "torus:4x4=3 numa:2=2 core:2=1", "mesh:64=1"}) {
    SCOPED_TRACE(machine);
    const auto problem = make_problem(random_graph(64, 0.1, 3), topology(machine));
    const auto core_of = embed_rank_order(problem.view(), limits);
    ASSERT_TRUE(core_of);
    EXPECT_TRUE(Mapping::create(*core_of, problem.topology, problem.capacities));
    EXPECT_LE(problem.cost(*core_of), testing::block_cost(problem));
  }
}

TEST(RankOrderEmbedding, NeedsAMeshAndAProductOfItsFactors) {
  EXPECT_FALSE(embed_rank_order(make_problem(hypercube(4), topology("node:4=10 core:4=1")).view(), limits));
  EXPECT_FALSE(embed_rank_order(make_problem(hypercube(4), topology("dragonfly:2,2,4=1")).view(), limits));
  EXPECT_FALSE(embed_rank_order(make_problem(random_graph(10, 0.5, 1), topology("torus:4x4=1")).view(), limits));
}

TEST(RankOrderEmbedding, DoesNotBeginASearchThatCouldNotCompareEnough) {
  const auto problem = make_problem(hypercube(6), topology("torus:4x4x4=1"));
  EXPECT_FALSE(embed_rank_order(problem.view(), {.max_visits = 1000}));
  EXPECT_FALSE(embed_rank_order(problem.view(), {.max_visits = limits.max_visits, .max_comparisons = 10}));
}

TEST(RankOrderEmbedding, EndsEarlyIfTheCostStaysFarAboveTheCostToBeat) {
  const auto problem = make_problem(random_graph(64, 0.1, 3), topology("torus:4x4x4=1"));
  const auto found = embed_rank_order(problem.view(), limits);
  ASSERT_TRUE(found);
  const double cost = problem.cost(*found);
  EXPECT_EQ(embed_rank_order(problem.view(), {.max_visits = limits.max_visits, .cost_to_beat = cost}), found);
  EXPECT_FALSE(embed_rank_order(problem.view(), {.max_visits = limits.max_visits, .cost_to_beat = cost / 2}));
}

}  // namespace
}  // namespace rankloom
