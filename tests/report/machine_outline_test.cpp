// SPDX-License-Identifier: Apache-2.0
// tests of report: folding equal parts of a machine.
#include "rankloom/report/terminal/machine_outline.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {

namespace {

using ::testing::ElementsAre;
using testing::topology;

/// Objects of the level of cores that the tree stands for, counted through all folds.
std::uint64_t cores_in(const MachineOutline& tree) {
  if (tree.children.empty()) return 1;
  std::uint64_t sum = 0;
  for (const MachineOutline& child : tree.children) sum += child.count * cores_in(child);
  return sum;
}

Topology hosts(const std::vector<std::pair<std::string, std::uint64_t>>& names_and_cores) {
  MachineSpec spec;
  spec.root.kind = "machine";
  for (const auto& [name, cores] : names_and_cores) {
    ObjectSpec core;
    core.kind = "core";
    core.repeat = cores;
    ObjectSpec node;
    node.kind = "node";
    node.name = name;
    node.children.push_back(core);
    spec.root.children.push_back(node);
  }
  return testing::built(std::move(spec));
}

TEST(MachineOutline, StandsForAllCoresOfEveryMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    SCOPED_TRACE(name);
    const MachineOutline tree = outline_machine(machine);
    EXPECT_EQ(tree.kind, "machine");
    EXPECT_EQ(tree.cores, machine.core_count());
    EXPECT_EQ(cores_in(tree), machine.core_count());
  }
}

TEST(MachineOutline, FoldsEqualPartsAtEveryLevel) {
  const MachineOutline tree = outline_machine(topology("switch:2=4.1 node:6=3.7 core:16=1"));
  ASSERT_EQ(tree.children.size(), 1U);
  const MachineOutline& part = tree.children[0];
  EXPECT_EQ(part.kind, "switch");
  EXPECT_EQ(part.count, 2U);
  EXPECT_EQ(part.sibling_cost->inverse_bandwidth, 4.1);
  EXPECT_EQ(part.cores, 96U);
  ASSERT_EQ(part.children.size(), 1U);
  EXPECT_EQ(part.children[0].count, 6U);
  EXPECT_EQ(part.children[0].sibling_cost->inverse_bandwidth, 3.7);
  EXPECT_EQ(part.children[0].children[0].count, 16U);
}

TEST(MachineOutline, KeepsUnequalNodesApart) {
  const MachineOutline tree = outline_machine(topology("node:4=10 core:2+2+8+2=1"));
  ASSERT_EQ(tree.children.size(), 3U);
  EXPECT_EQ(tree.children[0].count, 2U);
  EXPECT_EQ(tree.children[1].cores, 8U);
  EXPECT_EQ(tree.children[2].count, 1U);
}

TEST(MachineOutline, PutsEqualNodesTogetherWhenTooManyAlternate) {
  std::vector<std::pair<std::string, std::uint64_t>> names;
  for (int node = 0; node < 40; ++node) names.emplace_back("n" + std::to_string(node), node % 2 == 0 ? 2 : 4);
  const MachineOutline tree = outline_machine(hosts(names));
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.children[0].count, 20U);
  EXPECT_EQ(cores_in(tree), 120U);
}

TEST(MachineOutline, NamesFewHostsAllAndManyByTheFirstAndTheLast) {
  const MachineOutline tree =
      outline_machine(hosts({{"a", 2}, {"b", 2}, {"big", 8}, {"c1", 4}, {"c2", 4}, {"c3", 4}, {"c4", 4}}));
  ASSERT_EQ(tree.children.size(), 3U);
  EXPECT_THAT(tree.children[0].names, ElementsAre("a", "b"));
  EXPECT_FALSE(tree.children[0].names_omitted);
  EXPECT_THAT(tree.children[1].names, ElementsAre("big"));
  EXPECT_THAT(tree.children[2].names, ElementsAre("c1", "c4"));
  EXPECT_TRUE(tree.children[2].names_omitted);
}

TEST(MachineOutline, DoesNotNameNumberedHosts) {
  EXPECT_TRUE(outline_machine(topology("node:2=3 core:2=1")).children[0].names.empty());
}

TEST(MachineOutline, LeavesCostsBetweenNodesToTheNetwork) {
  const MachineOutline tree = outline_machine(topology("torus:4x4=5 core:2=1"));
  ASSERT_EQ(tree.children.size(), 1U);
  EXPECT_FALSE(tree.children[0].sibling_cost);
  EXPECT_EQ(tree.children[0].children[0].sibling_cost->inverse_bandwidth, 1);
}

TEST(MachineOutline, CountsDevicesWhereTheyAreNear) {
  const MachineOutline tree = outline_machine(topology("node:2=10 nic:1 package:1 numa:2=3 gpu:2 core:4=1"));
  ASSERT_EQ(tree.children.size(), 1U);
  const MachineOutline& node = tree.children[0];
  EXPECT_EQ(node.devices, (DeviceCounts{.gpus = 0, .network_cards = 1}));
  const MachineOutline& package = node.children[0];
  EXPECT_EQ(package.devices, DeviceCounts{});
  ASSERT_EQ(package.children.size(), 1U);
  EXPECT_EQ(package.children[0].devices, (DeviceCounts{.gpus = 2, .network_cards = 0}));
}

TEST(MachineOutline, KeepsNodesWithDifferentDevicesApart) {
  MachineSpec spec;
  spec.root.kind = "machine";
  for (const std::size_t gpus : {std::size_t{1}, std::size_t{1}, std::size_t{4}}) {
    ObjectSpec core;
    core.kind = "core";
    core.repeat = 2;
    ObjectSpec node;
    node.kind = "node";
    node.children.push_back(core);
    node.devices.assign(gpus, {.kind = "gpu"});
    spec.root.children.push_back(node);
  }
  const MachineOutline tree = outline_machine(testing::built(std::move(spec)));
  ASSERT_EQ(tree.children.size(), 2U);
  EXPECT_EQ(tree.children[0].count, 2U);
  EXPECT_EQ(tree.children[1].devices.gpus, 4U);
}

TEST(MachineOutline, TellsCoresOfDifferentCapacityApart) {
  const MachineOutline tree = outline_machine(topology("core:4=1 !core:1"));
  const MachineOutline& node = tree.children[0];
  ASSERT_EQ(node.children.size(), 3U);
  EXPECT_EQ(node.children[1].capacity, 0U);
  EXPECT_EQ(node.children[2].count, 2U);
}

}  // namespace

namespace {

using ::testing::HasSubstr;
using testing::topology;

TEST(TreeDrawing, ShowsKindsNumbersAndCosts) {
  EXPECT_EQ(draw_outline(outline_machine(topology("switch:2=4.1 node:6=3.7,2.5us core:16=1"))),
            "  machine\n"
            "  └─ switch ×2       cost 4.1\n"
            "     └─ node ×6      cost 3.7, latency 2.5 µs\n"
            "        └─ core ×16  cost 1\n");
}

TEST(TreeDrawing, ShowsDevices) {
  EXPECT_EQ(draw_outline(outline_machine(topology("node:2=10 nic:1 numa:2=3 gpu:2 core:4=1"))),
            "  machine\n"
            "  └─ node ×2        cost 10, 1 network card each\n"
            "     └─ numa ×2     cost 3, 2 GPUs each\n"
            "        └─ core ×4  cost 1\n");
}

TEST(TreeDrawing, ContinuesTheLinesOfUnequalSiblings) {
  EXPECT_EQ(draw_outline(outline_machine(topology("node:3=10 core:2+2+8=1")), {.ascii = true}),
            "  machine\n"
            "  +- node x2     cost 10\n"
            "  |  `- core x2  cost 1\n"
            "  `- node        cost 10\n"
            "     `- core x8  cost 1\n");
}

TEST(TreeDrawing, SaysWhichCoresAreNotUsedAndWhichAreShared) {
  const std::string text = draw_outline(outline_machine(topology("node:2=3 core:2*2=1 !node:1")));
  EXPECT_THAT(text, HasSubstr("2 ranks each"));
  EXPECT_THAT(text, HasSubstr("not used"));
}

TEST(TreeDrawing, CountsKindsThatItLeavesOut) {
  MachineOutline tree;
  tree.kind = "machine";
  for (std::uint64_t cores = 1; cores <= 30; ++cores) {
    MachineOutline node;
    node.kind = "node";
    node.cores = cores;
    tree.children.push_back(node);
  }
  EXPECT_THAT(draw_outline(tree), HasSubstr("… 6 more kinds"));
}

}  // namespace

}  // namespace rankloom
