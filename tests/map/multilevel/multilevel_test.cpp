// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/multilevel.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rankloom/map/affinity.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::make_problem;
using rankloom::testing::OwnedProblem;
using rankloom::testing::topology;

std::vector<Core> place(const OwnedProblem& problem, std::uint64_t seed = 1) {
  return multilevel_placement(problem.view(), VertexGraph(problem.view()), {}, seed);
}

TEST(Multilevel, IsValidOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      for (const std::uint32_t ranks : {7U, 100U}) {
        const auto problem = make_problem(rankloom::testing::random_graph(ranks, 0.1, 3), machine, model.model,
                                          {.oversubscribe = true, .imbalance = 0.03});
        EXPECT_TRUE(Mapping::create(place(problem), problem.topology, problem.capacities));
      }
    }
  }
}

TEST(Multilevel, PlacesEveryGroupOnItsOwnNode) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto problem =
        make_problem(rankloom::testing::shuffled_groups(6, 8, seed), topology("switch:2=9 node:3=4 core:8=1"));
    // All traffic stays inside the nodes.
    EXPECT_EQ(problem.cost(place(problem)), problem.graph.total_bytes());
  }
}

TEST(Multilevel, PlacesEveryGroupOnOneCoreIfCoresAreShared) {
  const auto problem = make_problem(rankloom::testing::shuffled_groups(12, 8, 1), topology("node:3=10 core:4=1"),
                                    CostModel::bytes, {.oversubscribe = true});
  EXPECT_EQ(problem.cost(place(problem)), 0);
}

TEST(RefinePlacement, NeverIncreasesTheCostNorExceedsCapacities) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    for (const CostModel model : {CostModel::bytes, CostModel::hopbytes, CostModel::quality}) {
      SCOPED_TRACE(name + " " + std::string(info(model).name));
      // Costs that depend on the direction: the weighted graph has both directions added up.
      if (name == "a graph with routing tables" || name == "a table of distances") continue;
      const auto problem = make_problem(rankloom::testing::random_graph(150, 0.05, 3), machine, model,
                                        {.oversubscribe = true, .imbalance = 0.1});
      const auto start = rankloom::testing::random_placement(150, machine, problem.capacities, 1);
      const auto after = refine_placement(problem.view(), VertexGraph(problem.view()), start, 3);
      EXPECT_TRUE(Mapping::create(after, machine, problem.capacities));
      EXPECT_LE(problem.cost(after), problem.cost(start));
      if (model == CostModel::bytes) {
        EXPECT_LT(problem.cost(after), 0.95 * problem.cost(start));
      }
    }
  }
}

TEST(RefinePlacement, ChangesNothingIfEveryRankHasItsOwnCore) {
  const auto problem = make_problem(rankloom::testing::random_graph(12, 0.3, 1), topology("node:4=10 core:4=1"));
  const auto start = rankloom::testing::random_placement(12, problem.topology, problem.capacities, 1);
  EXPECT_EQ(refine_placement(problem.view(), VertexGraph(problem.view()), start, 3), start);
}

TEST(VertexGraph, ConvertsBetweenTheOrdersOfVerticesAndRanks) {
  // Large and shuffled, so that vertices are numbered differently from ranks.
  const auto problem =
      make_problem(rankloom::testing::shuffled_grid(190, 190, 1), topology("node:361=10 package:10=3 core:10=1"));
  const VertexGraph vertices(problem.view());
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < 190 * 190; ++rank) core_of.push_back(Core{rank});
  EXPECT_FALSE(std::ranges::equal(vertices.by_vertex(core_of), core_of));
  EXPECT_EQ(vertices.by_rank(vertices.by_vertex(core_of)), core_of);
  const Affinity affinity(problem.graph);
  const auto rank_of = vertices.by_vertex(core_of);
  for (std::uint32_t vertex = 0; vertex < 190 * 190; vertex += 1000) {
    EXPECT_EQ(vertices.graph().edges(vertex).size(), affinity.degree(index(rank_of[vertex])));
  }
}

}  // namespace
}  // namespace rankloom::multilevel
