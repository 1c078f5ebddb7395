// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rankloom/map/mapper_factories.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::topology;

Error error_of(const std::string& spec, const OwnedProblem& problem) {
  auto placed = testing::mapper(spec).mapper->place(problem.view(), MapRun{});
  EXPECT_FALSE(placed) << spec;
  return placed ? Error{} : placed.error();
}

TEST(Hierarchical, EqualsBlockWhenItsEngineIsBlock) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const char* level : {"node", "core"}) {
      for (const std::uint32_t ranks : {6U, 40U}) {
        SCOPED_TRACE(name + " " + level);
        const auto problem =
            make_problem(testing::random_graph(ranks, 0.2, 1), machine, CostModel::bytes, {.oversubscribe = true});
        EXPECT_EQ(place_with(std::string("hierarchical:engine=block,level=") + level, problem).core_of,
                  block_placement(ranks, machine, problem.capacities));
      }
    }
  }
}

TEST(Hierarchical, IsValidOnEveryMachineDownToEveryLevelWithAnyEngine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const char* engine : {"clustering", "random", "round-robin", "greedy"}) {
      for (const Topology::Level& level : machine.levels()) {
        for (const std::uint32_t ranks : {5U, 12U, 30U}) {
          SCOPED_TRACE(name + " " + engine + " " + level.kind);
          const auto problem =
              make_problem(testing::random_graph(ranks, 0.3, 1), machine, CostModel::bytes, {.oversubscribe = true});
          const auto placed =
              place_with(std::string("hierarchical:engine=") + engine + ",level=" + level.kind, problem);
          EXPECT_TRUE(Mapping::create(placed.core_of, machine, problem.capacities));
        }
      }
    }
  }
}

TEST(Hierarchical, KeepsGroupsInsideTheObjectsOfItsLevel) {
  // Two groups for the switches, each of two halves for the nodes.
  CommGraphBuilder builder(32);
  const auto shuffled = [](std::uint32_t rank) { return (rank * 13) % 32; };
  for (std::uint32_t a = 0; a < 32; ++a) {
    for (std::uint32_t b = 0; b < 32; ++b) {
      if (a != b && a / 16 == b / 16) builder.add(Rank{shuffled(a)}, Rank{shuffled(b)}, a / 8 == b / 8 ? 100 : 10);
    }
  }
  const auto problem = make_problem(std::move(builder).build(false), topology("switch:2=50 node:2=10 core:8=1"));
  const auto by_node = place_with("hierarchical", problem).core_of;
  const auto by_switch = place_with("hierarchical:level=switch", problem).core_of;
  for (std::uint32_t rank = 0; rank < 32; ++rank) {
    EXPECT_EQ(index(by_switch[shuffled(rank)]) / 16, index(by_switch[shuffled(rank / 16 * 16)]) / 16);
    EXPECT_EQ(index(by_node[shuffled(rank)]) / 16, index(by_node[shuffled(rank / 16 * 16)]) / 16);
    EXPECT_EQ(index(by_node[shuffled(rank)]) / 8, index(by_node[shuffled(rank / 8 * 8)]) / 8);
  }
}

TEST(Hierarchical, MapsTheNodesOfANetworkAtTheirDistances) {
  // A ring of ranks on a one-dimensional torus: neighbours of the ring are placed on adjacent nodes.
  CommGraphBuilder builder(16);
  for (std::uint32_t rank = 0; rank < 16; ++rank) builder.add(Rank{rank * 3 % 16}, Rank{(rank + 1) * 3 % 16}, 100);
  const auto problem = make_problem(std::move(builder).build(false), topology("torus:8=10 core:2=1"));
  const double cost = problem.cost(place_with("hierarchical:engine=auto", problem).core_of);
  EXPECT_EQ(cost, 100 * (8 * 10 + 8));
}

TEST(Hierarchical, ListsTheLevelsWhenOneIsUnknown) {
  const auto problem = make_problem(testing::random_graph(4, 0.5, 1), topology("switch:2=9 node:2=5 core:4=1"));
  const Error error = error_of("hierarchical:level=rack", problem);
  EXPECT_EQ(error.code, Code::usage);
  EXPECT_EQ(error.where.source, "--level");
  EXPECT_NE(error.what.find("rack"), std::string::npos);
  EXPECT_NE(error.hint.find("switch, node, core"), std::string::npos);
}

TEST(Hierarchical, ReportsErrorsOfItsEngine) {
  const auto problem = make_problem(testing::random_graph(40, 0.5, 1), topology("switch:2=9 node:4=5 core:8=1"));
  EXPECT_EQ(error_of("hierarchical:engine=hierarchical", problem).where.source, "--engine");
  EXPECT_EQ(error_of("hierarchical:engine=hierarchical:level=core", problem).where.source, "--engine");
  EXPECT_EQ(error_of("hierarchical:engine=no-such-mapper", problem).where.source, "--engine");
  EXPECT_EQ(error_of("hierarchical:engine=clustering:clusters=none", problem).where.source, "--clusters");
}

}  // namespace
}  // namespace rankloom
