// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/multilevel.hpp"

#include <gtest/gtest.h>

#include "rankloom/map/affinity.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::make_problem;
using rankloom::testing::OwnedProblem;
using rankloom::testing::topology;

std::vector<Core> placed(const OwnedProblem& problem, std::uint64_t seed = 1) {
  return placement(problem.view(), Program(problem.view()), {}, seed);
}

TEST(Multilevel, IsValidOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      for (const std::uint32_t ranks : {7U, 100U}) {
        const auto problem = make_problem(rankloom::testing::random_graph(ranks, 0.1, 3), machine, model.model,
                                          {.oversubscribe = true, .imbalance = 0.03});
        EXPECT_TRUE(Mapping::checked(placed(problem), problem.topology, problem.capacities));
      }
    }
  }
}

TEST(Multilevel, PutsEveryGroupOnANodeOfItsOwn) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const auto problem =
        make_problem(rankloom::testing::shuffled_groups(6, 8, seed), topology("switch:2=9 node:3=4 core:8=1"));
    // All traffic at the cost of a node's inside.
    EXPECT_EQ(problem.cost(placed(problem)), problem.graph.total_bytes());
  }
}

TEST(Multilevel, KeepsGroupsOnACoreTogetherWhereCoresAreShared) {
  const auto problem = make_problem(rankloom::testing::shuffled_groups(12, 8, 1), topology("node:3=10 core:4=1"),
                                    CostModel::bytes, {.oversubscribe = true});
  EXPECT_EQ(problem.cost(placed(problem)), 0);
}

TEST(Moved, IsNeverDearerAndKeepsToTheSlots) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    for (const CostModel model : {CostModel::bytes, CostModel::hopbytes, CostModel::quality}) {
      SCOPED_TRACE(name + " " + std::string(info(model).name));
      // Directed costs: the graph knows both directions as one.
      if (name == "a graph with routing tables" || name == "a table of distances") continue;
      const auto problem = make_problem(rankloom::testing::random_graph(150, 0.05, 3), machine, model,
                                        {.oversubscribe = true, .imbalance = 0.1});
      const auto start = rankloom::testing::random_placement(150, machine, problem.capacities, 1);
      const auto after = moved(problem.view(), Program(problem.view()), start, 3);
      EXPECT_TRUE(Mapping::checked(after, machine, problem.capacities));
      EXPECT_LE(problem.cost(after), problem.cost(start));
      if (model == CostModel::bytes) {
        EXPECT_LT(problem.cost(after), 0.95 * problem.cost(start));
      }
    }
  }
}

TEST(Moved, LeavesRanksWithACoreEachWhereTheyAre) {
  const auto problem = make_problem(rankloom::testing::random_graph(12, 0.3, 1), topology("node:4=10 core:4=1"));
  const auto start = rankloom::testing::random_placement(12, problem.topology, problem.capacities, 1);
  EXPECT_EQ(moved(problem.view(), Program(problem.view()), start, 3), start);
}

TEST(Program, ComesBackToTheOrderOfTheRanks) {
  // Large and shuffled, so that the vertices have another order than the ranks.
  const auto problem =
      make_problem(rankloom::testing::shuffled_grid(190, 190, 1), topology("node:361=10 package:10=3 core:10=1"));
  const Program program(problem.view());
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < 190 * 190; ++rank) core_of.push_back(Core{rank});
  EXPECT_NE(program.by_vertex(core_of), core_of);
  EXPECT_EQ(program.by_rank(program.by_vertex(core_of)), core_of);
  const Affinity affinity(problem.graph);
  const auto rank_of = program.by_vertex(core_of);
  for (std::uint32_t vertex = 0; vertex < 190 * 190; vertex += 1000) {
    EXPECT_EQ(program.graph().edges(vertex).size(), affinity.degree(index(rank_of[vertex])));
  }
}

}  // namespace
}  // namespace rankloom::multilevel
