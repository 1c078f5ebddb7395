// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/embedding/grid_embedding.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"
#include "tests/map/structure/stencils.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::shuffled;
using testing::Stencil;
using testing::topology;

/// Checks that the embedding is a valid mapping.
std::optional<GridEmbedding> embed(const OwnedProblem& problem) {
  const auto grid = recognise_grid(problem.graph);
  EXPECT_TRUE(grid);
  auto embedding = grid ? embed_grid_in_mesh(problem.view(), *grid) : std::nullopt;
  if (embedding) {
    EXPECT_TRUE(Mapping::create(embedding->core_of, problem.topology, problem.capacities));
  }
  return embedding;
}

double total_bytes(const CommGraph& graph) {
  double sum = 0;
  for (const Rank rank : graph.ranks()) {
    for (const double bytes : graph.bytes(rank)) sum += bytes;
  }
  return sum;
}

void expect_one_hop_per_edge(const Stencil& stencil, std::string_view machine) {
  SCOPED_TRACE(std::string(machine));
  for (const bool in_order : {true, false}) {
    const CommGraph graph = in_order ? stencil.graph() : shuffled(stencil.graph(), 7);
    const auto problem = make_problem(graph, topology(machine));
    const auto embedding = embed(problem);
    ASSERT_TRUE(embedding);
    EXPECT_TRUE(embedding->adjacent);
    EXPECT_DOUBLE_EQ(problem.cost(embedding->core_of), total_bytes(graph));
  }
}

TEST(GridEmbedding, HasOneHopPerEdgeIfTheShapesAgreeInAnyOrder) {
  expect_one_hop_per_edge({.extent = {32, 16}}, "torus:16x32=1");
  expect_one_hop_per_edge({.extent = {4, 6, 5}}, "mesh:5x4x6=1");
  expect_one_hop_per_edge({.extent = {4, 6, 5}, .wraps = {true, true, true}}, "torus:6x5x4=1");
}

TEST(GridEmbedding, ClosesRings) {
  // A ring of four cells is recognised as two axes of two cells.
  expect_one_hop_per_edge({.extent = {4, 4, 4}, .wraps = {true, true, true}}, "torus:4x4x4=1");
  expect_one_hop_per_edge({.extent = {8, 4}, .wraps = {true, true}}, "torus:8x4=1");
}

TEST(GridEmbedding, FoldsLongAxesOverSeveralDimensions) {
  expect_one_hop_per_edge({.extent = {64, 8}}, "torus:8x8x8=1");
  expect_one_hop_per_edge({.extent = {32, 16}}, "torus:4x4x4x8=1");
  expect_one_hop_per_edge({.extent = {60}}, "mesh:3x4x5=1");
  expect_one_hop_per_edge({.extent = {64}, .wraps = {true}}, "torus:4x4x4=1");
}

TEST(GridEmbedding, SplitsTheDigitsOfAnAxisOverSeveralDimensions) {
  expect_one_hop_per_edge({.extent = {8, 8, 8}}, "torus:4x4x4x8=1");
}

TEST(GridEmbedding, UsesABoxOfALargerMesh) {
  expect_one_hop_per_edge({.extent = {4, 6}}, "torus:9x8x7=1");
}

TEST(GridEmbedding, TilesTheGridInsideNodes) {
  const auto problem = make_problem(Stencil{.extent = {8, 8, 8}}.graph(), topology("torus:4x4x4=10 core:8=1"));
  const auto embedding = embed(problem);
  ASSERT_TRUE(embedding);
  EXPECT_TRUE(embedding->adjacent);
  // Boxes of 2x2x2: 4 of 7 steps on each axis stay inside a node.
  EXPECT_DOUBLE_EQ(problem.cost(embedding->core_of), 3 * 64 * 100 * (4 * 1.0 + 3 * 10.0));
}

TEST(GridEmbedding, PadsAxesWhoseLengthsDoNotFitTheNodes) {
  for (const bool in_order : {true, false}) {
    const CommGraph graph = Stencil{.extent = {20, 21}}.graph();
    const auto problem = make_problem(in_order ? graph : shuffled(graph, 3), topology("mesh:10x12=10 core:4=1"));
    const auto embedding = embed(problem);
    ASSERT_TRUE(embedding);
    // Boxes of 2x2, the last ones of 2x1: along the axis of 21 cells, 10 of 20 steps lead to an adjacent node; along
    // the other one, 9 of 19.
    EXPECT_DOUBLE_EQ(problem.cost(embedding->core_of),
                     100 * (20 * (10 * 1.0 + 10 * 10.0) + 21 * (10 * 1.0 + 9 * 10.0)));
  }
}

TEST(GridEmbedding, PrefersShortDistancesForTheAxisWithTheMostTraffic) {
  const auto problem =
      make_problem(Stencil{.extent = {8, 8}, .along = {1000, 1}}.graph(), topology("torus:8x4=10 core:2=1"));
  const auto embedding = embed(problem);
  ASSERT_TRUE(embedding);
  // Pairs along the first axis share a node; the next pair is one hop away.
  EXPECT_DOUBLE_EQ(problem.cost(embedding->core_of), 8 * 1000 * (4 * 1.0 + 3 * 10.0) + 8 * 7 * 10.0);
}

TEST(GridEmbedding, SaysIfNeighboursAreNotAdjacent) {
  const auto problem = make_problem(Stencil{.extent = {8, 8, 8}}.graph(), topology("torus:16x32=1"));
  const auto embedding = embed(problem);
  ASSERT_TRUE(embedding);
  EXPECT_FALSE(embedding->adjacent);
  EXPECT_LT(problem.cost(embedding->core_of), 2.01 * total_bytes(problem.graph));
}

TEST(GridEmbedding, BalancesTheLinkLoadsForCongestion) {
  const Stencil stencil{.extent = {8, 8, 8}, .along = {100, 100, 100}, .across = {10, 1}};
  const auto congestion_for = [&](CostModel model) {
    const auto problem = make_problem(stencil.graph(), topology("torus:16x32=1"), model);
    const auto embedding = embed(problem);
    return embedding ? evaluate(problem.graph, problem.topology, embedding->core_of, CostModel::congestion) : 0;
  };
  EXPECT_LT(congestion_for(CostModel::congestion), 0.96 * congestion_for(CostModel::bytes));
}

TEST(GridEmbedding, UsesTheSlotsOfEveryNode) {
  const auto problem = make_problem(Stencil{.extent = {12, 12}}.graph(), topology("torus:6x6=10 numa:2=2 core:1=1"),
                                    CostModel::bytes, {.oversubscribe = true});
  const auto embedding = embed(problem);
  ASSERT_TRUE(embedding);
  EXPECT_TRUE(embedding->adjacent);
}

TEST(GridEmbedding, NeedsAMeshOfEqualNodesAndDivisibleAxes) {
  const auto none = [](const Stencil& stencil, std::string_view machine) {
    const auto problem = make_problem(stencil.graph(), topology(machine));
    EXPECT_FALSE(embed(problem)) << machine;
  };
  none({.extent = {4, 4}}, "node:4=10 core:4=1");
  none({.extent = {4, 4}}, "dragonfly:2,2,2=1 core:2=1");
  none({.extent = {5, 5}}, "mesh:3x3x3=1");
}

}  // namespace
}  // namespace rankloom
