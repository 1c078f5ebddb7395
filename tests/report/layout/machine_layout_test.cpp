// SPDX-License-Identifier: Apache-2.0
// tests of report/layout: boxes of machines.
#include "rankloom/report/layout/machine_layout.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/layout/grid.hpp"
#include "rankloom/report/layout/rank_slots.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::topology;

bool overlap(const MachineBox& a, const MachineBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// A device is inside its node, overlaps no core or other device, and does not cross the border of a part of the node.
void check_devices(const MachineTemplate& shape) {
  std::vector<MachineBox> boxes;
  for (const DeviceBox& device : shape.devices) {
    MachineBox box;
    box.x = device.x;
    box.y = device.y;
    box.width = device.width;
    box.height = device.height;
    EXPECT_LT(box.x + box.width, shape.width);
    EXPECT_LT(box.y + box.height, shape.height);
    for (const MachineBox& part : shape.boxes) {
      if (!overlap(box, part)) continue;
      EXPECT_GT(part.height, 1) << device.label << " overlaps " << part.label;
      EXPECT_GT(box.x, part.x) << device.label;
      EXPECT_LT(box.x + box.width, part.x + part.width) << device.label;
      EXPECT_GT(box.y, part.y) << device.label;
      EXPECT_LT(box.y + box.height, part.y + part.height) << device.label;
      EXPECT_GE(device.first_core, part.first_core);
      EXPECT_LE(device.first_core + device.cores, part.first_core + part.cores);
    }
    for (const MachineBox& other : boxes) EXPECT_FALSE(overlap(box, other)) << device.label;
    boxes.push_back(box);
  }
}

/// Children lie inside their parents, siblings do not overlap, every core appears once.
void check(const MachineLayout& layout) {
  std::multiset<std::uint32_t> cores;
  for (std::size_t at = 0; at < layout.boxes.size(); ++at) {
    const MachineBox& box = layout.boxes[at];
    EXPECT_GE(box.x, 0);
    EXPECT_LE(box.x + box.width, layout.width + 1e-9);
    EXPECT_LE(box.y + box.height, layout.height + 1e-9);
    EXPECT_LT(box.parent, static_cast<std::int32_t>(at));
    if (box.parent >= 0) {
      const MachineBox& parent = layout.boxes[static_cast<std::size_t>(box.parent)];
      EXPECT_GT(box.x, parent.x);
      EXPECT_LT(box.x + box.width, parent.x + parent.width);
      EXPECT_GT(box.y, parent.y);
      EXPECT_LT(box.y + box.height, parent.y + parent.height);
      EXPECT_GE(box.first_core, parent.first_core);
      EXPECT_LE(box.first_core + box.cores, parent.first_core + parent.cores);
    }
    for (std::size_t other = 0; other < at; ++other) {
      if (layout.boxes[other].parent != box.parent) continue;
      EXPECT_FALSE(overlap(box, layout.boxes[other])) << box.label;
    }
    if (box.template_index < 0) continue;
    const MachineTemplate& shape = layout.templates[static_cast<std::size_t>(box.template_index)];
    check_devices(shape);
    for (const MachineBox& part : shape.boxes) {
      EXPECT_LE(part.x + part.width, shape.width);
      EXPECT_LE(part.y + part.height, shape.height);
      if (part.height == 1) cores.insert(box.first_core + part.first_core);
    }
  }
  ASSERT_EQ(cores.size(), layout.cores);
  std::uint32_t expected = 0;
  for (const std::uint32_t core : cores) EXPECT_EQ(core, expected++);
}

TEST(MachineLayout, PutsEverythingInsideItsParent) {
  for (const char* const text :
       {"switch:2=4.1 node:6=3.7 core:16=1", "switch:3 switch:2 node:2 package:2 numa:2 core:3", "core:4",
        "node:7 core:1", "torus:4x4 core:4", "mesh:3x3x3 core:2", "mesh:5 core:2",
        "node:2 nic:2 package:2 numa:4 gpu:2 core:8 pu:2", "node:3 gpu:8 core:2", "torus:3x3 nic:1 core:4 gpu:1"}) {
    SCOPED_TRACE(text);
    check(lay_out_machine(topology(text)));
    check(lay_out_machine(topology(text), {.max_columns = 80}));
  }
}

TEST(MachineLayout, EqualNodesAreLaidOutOnce) {
  const MachineLayout layout = lay_out_machine(topology("switch:2=4.1 node:6=3.7 core:16=1"));
  EXPECT_EQ(layout.templates.size(), 1);
  EXPECT_EQ(layout.templates[0].boxes.size(), 16);
  EXPECT_EQ(layout.boxes.size(), 2 + 12);
  EXPECT_EQ(layout.boxes[0].label, "switch 0");
  EXPECT_EQ(layout.boxes[1].label, "node0");
  EXPECT_EQ(layout.boxes[1].parent, 0);
}

TEST(MachineLayout, DevicesAreInThePartThatTheyAreNear) {
  const MachineLayout layout = lay_out_machine(topology("node:2 nic:1 numa:2 gpu:2 core:4"));
  ASSERT_EQ(layout.templates.size(), 1);
  const MachineTemplate& shape = layout.templates[0];
  std::vector<std::string> labels;
  for (const DeviceBox& device : shape.devices) labels.push_back(device.label);
  EXPECT_THAT(labels, ElementsAre("GPU 0", "GPU 1", "GPU 2", "GPU 3", "NIC 0"));
  const MachineBox& numa = shape.boxes[5];
  ASSERT_EQ(numa.label, "numa 1");
  EXPECT_GT(shape.devices[2].x, numa.x);
  EXPECT_LT(shape.devices[2].y, numa.y + numa.height);
  EXPECT_GE(shape.devices[4].y, numa.y + numa.height) << "the network card is near the whole node";
}

TEST(MachineLayout, NodesWithOtherDevicesHaveTheirOwnLayout) {
  MachineSpec spec = *parse_topology_string("node:3 core:2");
  const ObjectSpec node = spec.root.children[0];
  spec.root.children.assign(3, node);
  for (ObjectSpec& one : spec.root.children) {
    one.repeat = 1;
    one.devices = {{.kind = "nic", .name = "mlx5_0", .address = "0000:07:00.0"}};
  }
  spec.root.children[2].devices[0].address = "0000:c9:00.0";
  const MachineLayout layout = lay_out_machine(testing::built(std::move(spec)));
  ASSERT_EQ(layout.templates.size(), 2);
  EXPECT_EQ(layout.templates[0].devices[0].label, "mlx5_0");
  EXPECT_EQ(layout.templates[1].devices[0].address, "0000:c9:00.0");
  EXPECT_EQ(layout.boxes[0].template_index, layout.boxes[1].template_index);
}

TEST(MachineLayout, NamesOfDevicesDoNotMultiplyTheLayouts) {
  MachineSpec spec = *parse_topology_string("node:100 core:2");
  const ObjectSpec node = spec.root.children[0];
  spec.root.children.assign(100, node);
  int number = 0;
  for (ObjectSpec& one : spec.root.children) {
    one.repeat = 1;
    one.devices = {{.kind = "nic", .name = "card" + std::to_string(number++)}};
  }
  const MachineLayout layout = lay_out_machine(testing::built(std::move(spec)));
  ASSERT_EQ(layout.templates.size(), 1);
  EXPECT_EQ(layout.templates[0].devices[0].label, "NIC 0");
  EXPECT_EQ(layout.templates[0].devices[0].name, "");
}

TEST(RankSlots, AreWhatTheLauncherBindsRanksTo) {
  const Topology machine = topology("node:1 core:2 pu:2");
  const std::vector<Core> cores{Core{2}, Core{0}};
  const RankSlots slots = rank_slots(cores, machine, {});
  ASSERT_EQ(slots.slot_of.size(), 2);
  EXPECT_THAT(slots.leaves_of(slots.slot_of[0]), ElementsAre(Core{2}, Core{3}));
  EXPECT_THAT(slots.leaves_of(slots.slot_of[1]), ElementsAre(Core{0}, Core{1}));
  EXPECT_TRUE(slots.gpus_of(slots.slot_of[1]).empty());
}

TEST(RankSlots, OfRanksThatShareASlotAreStoredOnce) {
  const std::vector<Core> cores{Core{2}, Core{0}, Core{2}, Core{0}};
  const RankSlots slots = rank_slots(cores, topology("node:1 core:4"), SlotShape{.cores = 2});
  EXPECT_THAT(slots.slot_of, ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(slots.ends, ElementsAre(2, 4));
  EXPECT_THAT(slots.leaves, ElementsAre(Core{2}, Core{3}, Core{0}, Core{1}));
}

TEST(RankSlots, OfSingleCoresAreEmpty) {
  const std::vector<Core> cores{Core{1}, Core{0}};
  EXPECT_TRUE(rank_slots(cores, topology("node:1 core:2"), {}).empty());
  EXPECT_TRUE(rank_slots(cores, topology("node:1 core:2 pu:1"), {}).empty());
  EXPECT_TRUE(rank_slots(cores, topology("node:1 core:4"), SlotShape{.cores = 2}).empty())
      << "no slot begins at core 1";
}

TEST(MachineLayout, NodesOfATorusAreWired) {
  const MachineLayout layout = lay_out_machine(topology("torus:4x3 core:2"));
  EXPECT_EQ(layout.boxes.size(), 12);
  EXPECT_EQ(layout.wires.size(), 24);  // two for each node
  EXPECT_EQ(layout.boxes[4].label, "node4 (1,1)");
}

TEST(MachineLayout, LevelsSayWhatTheyPart) {
  const MachineLayout layout = lay_out_machine(topology("switch:2=4.1 node:6=3.7 core:16=1"));
  ASSERT_EQ(layout.levels.size(), 3);
  EXPECT_EQ(layout.levels[0].label, "between switches");
  EXPECT_EQ(layout.levels[1].label, "between nodes of a switch");
  EXPECT_EQ(layout.levels[2].label, "between cores of a node");
  EXPECT_DOUBLE_EQ(layout.levels[1].gap, 3.7);
}

TEST(MachineLayout, MachinesWithManyNodesAreShownByTheirSwitches) {
  const MachineLayout layout = lay_out_machine(topology("switch:10 node:1000 core:2"));
  EXPECT_EQ(layout.boxes.size(), 10);
  EXPECT_TRUE(layout.templates.empty());
  EXPECT_THAT(layout.note, HasSubstr("10,000 nodes"));
}

TEST(MachineLayout, KeepsTheWidthOfATerminal) {
  EXPECT_LE(lay_out_machine(topology("node:64 core:8"), {.max_columns = 100}).width, 100);
}

TEST(FittingGrid, HasNoHolesWhereItCan) {
  EXPECT_EQ(fitting_grid(16, 4, 1, 2).columns * fitting_grid(16, 4, 1, 2).rows, 16);
  EXPECT_EQ(fitting_grid(1, 4, 1, 2).columns, 1);
  EXPECT_EQ(fitting_grid(0, 4, 1, 2).columns, 1);
}

}  // namespace
}  // namespace rankloom
