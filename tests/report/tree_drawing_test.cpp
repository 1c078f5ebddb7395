// SPDX-License-Identifier: Apache-2.0
// tests of report: a machine as lines.
#include "rankloom/report/tree_drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::topology;

TEST(TreeDrawing, ShowsKindsNumbersAndCosts) {
  EXPECT_EQ(draw_tree(fold_machine(topology("switch:2=4.1 node:6=3.7,2.5us core:16=1"))),
            "  machine\n"
            "  └─ switch ×2       cost 4.1\n"
            "     └─ node ×6      cost 3.7, latency 2.5 µs\n"
            "        └─ core ×16  cost 1\n");
}

TEST(TreeDrawing, ContinuesTheLinesOfUnequalSiblings) {
  EXPECT_EQ(draw_tree(fold_machine(topology("node:3=10 core:2+2+8=1")), {.ascii = true}),
            "  machine\n"
            "  +- node x2     cost 10\n"
            "  |  `- core x2  cost 1\n"
            "  `- node        cost 10\n"
            "     `- core x8  cost 1\n");
}

TEST(TreeDrawing, SaysWhichCoresAreNotUsedAndWhichAreShared) {
  const std::string text = draw_tree(fold_machine(topology("node:2=3 core:2*2=1 !node:1")));
  EXPECT_THAT(text, HasSubstr("2 ranks each"));
  EXPECT_THAT(text, HasSubstr("not used"));
}

TEST(TreeDrawing, CountsKindsThatItLeavesOut) {
  MachineTree tree;
  tree.kind = "machine";
  for (std::uint64_t cores = 1; cores <= 30; ++cores) {
    MachineTree node;
    node.kind = "node";
    node.cores = cores;
    tree.children.push_back(node);
  }
  EXPECT_THAT(draw_tree(tree), HasSubstr("… 6 more kinds"));
}

}  // namespace
}  // namespace rankloom
