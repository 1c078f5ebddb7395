// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/network/network_partition.hpp"

#include <set>

#include <gtest/gtest.h>

#include "rankloom/map/multilevel/multisection.hpp"
#include "rankloom/map/multilevel/traffic_graph.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::make_problem;
using rankloom::testing::OwnedProblem;
using rankloom::testing::topology;

NetworkHalves halves_of(const Topology& machine) {
  const Capacities capacities = *Capacities::of(machine, 1, {});
  const MachineTree tree(machine, capacities);
  return {machine, tree.children(tree.root())};
}

TEST(NetworkHalves, DivideEveryNetworkDownToItsNodes) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    if (!machine.routed()) continue;
    SCOPED_TRACE(name);
    const NetworkHalves network = halves_of(machine);
    EXPECT_EQ(network.halves.size(), 2 * machine.node_count() - 1);
    std::set<std::uint32_t> nodes;
    for (const auto& half : network.halves) {
      if (half.is_block()) {
        nodes.insert(index(machine.node_of(Core{network.blocks[half.begin].begin})));
        continue;
      }
      EXPECT_EQ(network.halves[half.left].begin, half.begin);
      EXPECT_EQ(network.halves[half.left].end, network.halves[half.right].begin);
      EXPECT_EQ(network.halves[half.right].end, half.end);
      EXPECT_LT(half.begin, network.halves[half.left].end);
      EXPECT_LT(network.halves[half.right].begin, half.end);
    }
    EXPECT_EQ(nodes.size(), machine.node_count());
  }
}

TEST(NetworkHalves, CutAMeshBetweenLayers) {
  const NetworkHalves network = halves_of(topology("mesh:5x3=1"));
  const auto& left = network.halves[network.halves.front().left];
  EXPECT_EQ(left.end - left.begin, 6U);  // two of five rows
  for (std::uint32_t at = left.begin; at < left.end; ++at) EXPECT_LT(network.blocks[at].begin, 6U);
}

TEST(NetworkHalves, CutADragonflyBetweenGroupsAndAFatTreeBetweenSwitches) {
  for (const char* const machine : {"dragonfly:3,4,2=1 core:1", "fattree:3,8/1,2=1 core:1"}) {
    const NetworkHalves network = halves_of(topology(machine));
    const auto& left = network.halves[network.halves.front().left];
    EXPECT_EQ((left.end - left.begin) % 8, 0U) << machine;
  }
}

double placed_cost(const OwnedProblem& problem, std::uint64_t seed) {
  const MachineTree tree(problem.topology, problem.capacities);
  const auto by_vertex =
      multisection(weighted_graph(problem.view()), tree, make_distance(problem.topology, problem.model), {}, seed);
  const std::vector<Core> core_of(by_vertex.begin(), by_vertex.end());
  EXPECT_TRUE(Mapping::create(core_of, problem.topology, problem.capacities));
  return problem.cost(core_of);
}

TEST(NetworkPartition, PlacesNeighboursOnAdjacentNodes) {
  // A ring of 16 groups of four ranks on a ring of 16 nodes: one hop from group to group.
  CommGraphBuilder builder(64);
  for (std::uint32_t rank = 0; rank < 64; ++rank) {
    for (std::uint32_t other = rank + 1; other < rank / 4 * 4 + 4; ++other) builder.add(Rank{rank}, Rank{other}, 50);
    builder.add(Rank{rank}, Rank{(rank + 4) % 64}, 10);
  }
  const auto problem = make_problem(std::move(builder).build(false, true), topology("torus:16=5 core:4=1"));
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_DOUBLE_EQ(placed_cost(problem, seed), 16 * 6 * 50 + 64 * 10 * 5.0);
}

TEST(NetworkPartition, PullsVerticesTowardsTheirNeighbours) {
  // A shuffled grid on a torus of its shape: perfect is one hop per edge, random placement eight.
  const auto problem = make_problem(rankloom::testing::shuffled_grid(16, 16, 1), topology("torus:16x16=1"));
  const double edges = 2 * 16 * 15 * 100;
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_LT(placed_cost(problem, seed), 1.7 * edges) << seed;
}

}  // namespace
}  // namespace rankloom::multilevel
