// SPDX-License-Identifier: Apache-2.0
// tests of report/layout: boxes of machines.
#include "rankloom/report/layout/machine_layout.hpp"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/layout/grid.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::topology;

bool overlap(const MachineBox& a, const MachineBox& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
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
        "node:7 core:1", "torus:4x4 core:4", "mesh:3x3x3 core:2", "mesh:5 core:2"}) {
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
