// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/locality_order.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

std::vector<std::uint32_t> ordered_nodes(const Topology& machine) {
  const Capacities capacities = *Capacities::of(machine, 1, {});
  const MachineTree tree(machine, capacities);
  EXPECT_TRUE(has_network(tree, tree.root()));
  std::vector<std::uint32_t> nodes;
  for (const auto& part : locality_order(machine, tree.children(tree.root()))) {
    nodes.push_back(index(machine.node_of(Core{part.begin})));
  }
  return nodes;
}

TEST(LocalityOrder, BisectsAMeshAcrossItsLongestSide) {
  // Four columns and two rows: first the left half. Each half is a square, and its rows follow one another.
  EXPECT_EQ(ordered_nodes(testing::topology("mesh:2x4=1 core:3")),
            (std::vector<std::uint32_t>{0, 1, 4, 5, 2, 3, 6, 7}));
}

TEST(LocalityOrder, ContainsEveryNodeOnceOnEveryNetwork) {
  for (const auto& [name, machine] : testing::every_machine()) {
    if (!machine.routed()) continue;
    SCOPED_TRACE(name);
    const auto nodes = ordered_nodes(machine);
    EXPECT_EQ(nodes.size(), machine.node_count());
    EXPECT_EQ(std::set(nodes.begin(), nodes.end()).size(), machine.node_count());
  }
}

TEST(LocalityOrder, KeepsTheGroupsOfADragonflyTogether) {
  const auto nodes = ordered_nodes(testing::topology("dragonfly:4,2,2=1 core:1"));
  for (std::size_t half = 0; half < 2; ++half) {
    std::set<std::uint32_t> groups;
    for (std::size_t at = 0; at < 8; ++at) groups.insert(nodes[half * 8 + at] / 4);
    EXPECT_LE(groups.size(), 3U);
  }
}

TEST(LocalityOrder, IsNotNeededOnATree) {
  const auto machine = testing::topology("switch:2=5 node:2=3 core:4=1");
  const Capacities capacities = *Capacities::of(machine, 1, {});
  const MachineTree tree(machine, capacities);
  EXPECT_FALSE(has_network(tree, tree.root()));
}

}  // namespace
}  // namespace rankloom
