// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/machine/machine_tree.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::topology;

Capacities one_each(const Topology& machine) {
  return *Capacities::of(machine, 1, {});
}

TEST(MachineTree, HasNoLevelsOfOneChild) {
  const Topology machine = topology("switch:1 node:2=10 package:1 cache:3=2 core:1 pu:2=1");
  const Capacities capacities = *Capacities::of(machine, machine.core_count(), {});
  const MachineTree tree(machine, capacities);
  EXPECT_THAT(tree.arities(tree.root()), ElementsAre(2, 3, 2));
  EXPECT_TRUE(tree.symmetric());
  const auto nodes = tree.children(tree.root());
  EXPECT_EQ(nodes[1].begin, 6u);
  EXPECT_EQ(nodes[1].end, 12u);
  EXPECT_THAT(tree.children(tree.children(tree.children(nodes[1])[2])[1]), IsEmpty());
}

TEST(MachineTree, CountsTheSlotsOfEachPart) {
  const Topology machine = topology("node:2=10 core:3*2=1 !core:0");
  const Capacities capacities = one_each(machine);
  const MachineTree tree(machine, capacities);
  const auto nodes = tree.children(tree.root());
  EXPECT_EQ(tree.slots(tree.root()), 10u);
  EXPECT_EQ(tree.slots(nodes[0]), 4u);
  EXPECT_EQ(tree.slots(nodes[1]), 6u);
}

TEST(MachineTree, RecognisesSymmetricMachines) {
  const std::vector<std::pair<const char*, bool>> machines{
      {"core:1", true},
      {"node:4=10 core:4=1", true},
      {"torus:3x3 core:2", true},
      {"node:3=10 core:2+7+4=1", false},
      {"node:2=10 core:4=1 !core:1", false},
      {"switch:2=5 node:3=2 core:4", true},
  };
  for (const auto& [text, symmetric] : machines) {
    const Topology machine = topology(text);
    const Capacities capacities = one_each(machine);
    EXPECT_EQ(MachineTree(machine, capacities).symmetric(), symmetric) << text;
  }
}

TEST(MachineTree, RecognisesSymmetricPartsBelowAnAsymmetricRoot) {
  const Topology machine = testing::mixed_nodes();
  const Capacities capacities = one_each(machine);
  const MachineTree tree(machine, capacities);
  EXPECT_FALSE(tree.symmetric());
  for (const auto& part : tree.children(tree.root())) {
    for (const auto& node : tree.children(part)) EXPECT_TRUE(tree.symmetric(node));
  }
}

TEST(MachineTree, CoversEveryCoreOnceOnEveryMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    SCOPED_TRACE(name);
    const Capacities capacities = one_each(machine);
    const MachineTree tree(machine, capacities);
    std::vector<MachineTree::Part> open{tree.root()};
    std::uint32_t cores = 0;
    while (!open.empty()) {
      const auto part = open.back();
      open.pop_back();
      const auto below = tree.children(part);
      EXPECT_EQ(below.empty(), part.is_core());
      EXPECT_NE(below.size(), 1u);
      std::uint32_t at = part.begin;
      for (const auto& child : below) {
        EXPECT_EQ(child.begin, at);
        at = child.end;
      }
      if (!below.empty()) {
        EXPECT_EQ(at, part.end);
      }
      cores += below.empty() ? 1 : 0;
      open.insert(open.end(), below.begin(), below.end());
    }
    EXPECT_EQ(cores, machine.core_count());
  }
}

}  // namespace
}  // namespace rankloom
