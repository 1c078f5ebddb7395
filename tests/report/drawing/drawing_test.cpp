// SPDX-License-Identifier: Apache-2.0
// tests of report/drawing: one display list, drawn as characters and as SVG.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/report/drawing/backends.hpp"
#include "rankloom/report/drawing/drawings.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::topology;

TEST(Drawing, BarsAreAsLongAsTheirFigures) {
  const std::vector<BarRow> rows{{"a", 10, "10 B", 5, "5 B"}, {"longer", 0, "nothing"}};
  const Drawing drawing = draw_bars("levels", "bytes", rows, {.columns = 25});
  EXPECT_EQ(to_text(drawing),
            "bytes\n"
            "       a ▒▒▒▒▒▒▒▒▒▒ 10 B\n"
            "         █████ 5 B\n"
            "  longer nothing\n");
}

TEST(Drawing, TheMachineShowsItsRanks) {
  const MachineLayout machine = lay_out_machine(topology("node:2=10 core:2=1"), {.max_columns = 80});
  const Drawing drawing = draw_machine(machine, {Core{1}, Core{3}, Core{3}}, "machine", "ranks");
  EXPECT_EQ(to_text(drawing),
            "ranks\n"
            "  ┌node0─────┐ ┌node1─────┐\n"
            "  │  ·  0    │ │  · 1+    │\n"
            "  └──────────┘ └──────────┘\n");
  const std::string svg = to_svg(drawing);
  EXPECT_THAT(svg, HasSubstr("core 3: rank 1 and 1 more"));
  EXPECT_THAT(svg, HasSubstr(">node1</text>"));
}

TEST(Drawing, TheMachineShowsTheCoresAndGpusOfEveryRank) {
  const Topology machine = topology("node:1=10 numa:2=3 gpu:1 core:2=1");
  const std::vector<Core> core_of{Core{2}, Core{0}};
  const RankSlots slots = rank_slots(core_of, machine, SlotShape{.cores = 2, .gpus = 1});
  const Drawing drawing = draw_machine(lay_out_machine(machine), core_of, "machine", "ranks", slots);
  EXPECT_EQ(to_text(drawing),
            "ranks\n"
            "  ┌node0────────────────────┐\n"
            "  │┌numa 0────┐ ┌numa 1────┐│\n"
            "  ││  1  1    │ │  0  0    ││\n"
            "  ││GPU 0: 1  │ │GPU 1: 0  ││\n"
            "  │└──────────┘ └──────────┘│\n"
            "  └─────────────────────────┘\n");
  const std::string svg = to_svg(drawing);
  EXPECT_THAT(svg, HasSubstr("<title>core 1: rank 1</title>"));
  EXPECT_THAT(svg, HasSubstr("<title>GPU 1, near cores 2 to 3: rank 0</title>"));
  EXPECT_THAT(svg, HasSubstr("class=\"device taken\""));
  EXPECT_THAT(svg, HasSubstr(".device{"));
}

TEST(Drawing, DevicesThatNoRankUsesShowTheirNames) {
  const MachineLayout machine = lay_out_machine(topology("node:1=10 nic:1 core:4=1"));
  const Drawing drawing = draw_machine(machine, {Core{0}}, "machine", "ranks");
  EXPECT_THAT(to_text(drawing), HasSubstr("│NIC 0"));
  EXPECT_THAT(to_svg(drawing), HasSubstr("<title>NIC 0, near cores 0 to 3</title>"));
}

TEST(Drawing, APictureWithoutDevicesHasNoStyleForThem) {
  const MachineLayout machine = lay_out_machine(topology("node:2=10 core:2=1"));
  EXPECT_THAT(to_svg(draw_machine(machine, {Core{1}}, "machine", "ranks")), Not(HasSubstr("device")));
}

TEST(Drawing, TheHeatMapNamesItsNodes) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 1000);
  builder.add(Rank{3}, Rank{2}, 0.1);
  const DisplayedTraffic traffic{std::move(builder).build(false), 1, 4};
  const HeatOrder order{"before", {0, 1, 2, 3}, {0, 2}, {"a", "b"}};
  const Drawing drawing = draw_heat_map(traffic, order, "traffic", {});
  const std::string text = to_text(drawing);
  EXPECT_THAT(text, HasSubstr("  a ··██····\n"
                              "    ········\n"
                              "  b ········\n"
                              "    ····░░··\n"));
  const std::string svg = to_svg(drawing);
  EXPECT_THAT(svg, HasSubstr("class=\"border\""));
  EXPECT_EQ(drawing.name, "heat-before");
}

TEST(Drawing, JobsThatShareLinksStandOut) {
  PolicyRow policy;
  policy.policy = "first-fit";
  policy.jobs = {{"1", 2, 0, 0, 10, {0, 1}, false}, {"2", 1, 0, 5, 10, {3}, true}};
  const Drawing drawing = draw_policy(policy, 4, 0, 10, {.columns = 22, .time_rows = 4});
  EXPECT_EQ(to_text(drawing),
            "first-fit: nodes (rows) over time; 1 of 2 jobs share a link or router with another\n"
            "       node 0 AAAAAAAAAA\n"
            "              AAAAAAAAAA\n"
            "\n"
            "       node 3      ×××××\n"
            "              0     10 s\n");
  EXPECT_THAT(to_svg(drawing), HasSubstr("class=\"shared\""));
}

TEST(Drawing, PhasesAreLettersWithMarksBelow) {
  OnlineNode node;
  node.name = "host";
  node.seconds = 10;
  node.phases = {{"A", 0, 5}, {"B", 5, 10}};
  node.migrations = {{6, 3}};
  EXPECT_THAT(to_text(draw_online(node, {.columns = 22})), HasSubstr("AAAAABBBBB\n        moves       ^\n"));
}

TEST(Drawing, WhatIsTooLargeIsCutAndSaidToBe) {
  const MachineLayout machine = lay_out_machine(topology("node:64 core:4"), {.max_columns = 20});
  const std::string text = to_text(draw_machine(machine, {}, "machine", "m"), {.max_rows = 10});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
  EXPECT_THAT(text, HasSubstr("rows more"));
}

TEST(Drawing, WordsOfUsersDoNotCommandTheTerminal) {
  const Drawing drawing = draw_bars("x", "a\033[2J", {{"b\033[31m", 1, "c\r"}}, {});
  EXPECT_THAT(to_text(drawing), Not(HasSubstr("\033")));
  EXPECT_THAT(to_text(drawing), Not(HasSubstr("\r")));
  EXPECT_THAT(to_text(drawing), HasSubstr("a\\x1b[2J"));
}

TEST(Drawing, WordsOfUsersAreEscaped) {
  const Drawing drawing = draw_bars("x", "<b>", {{"<script>", 1, "\"&\""}}, {});
  EXPECT_THAT(to_svg(drawing), Not(HasSubstr("<script>")));
  EXPECT_THAT(to_svg(drawing), HasSubstr("&lt;script&gt;"));
}

}  // namespace
}  // namespace rankloom
