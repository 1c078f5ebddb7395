// SPDX-License-Identifier: Apache-2.0
#include "rankloom/report/drawing/allocation_map.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::topology;

TEST(AllocationPicture, ShowsEveryNodeOfEveryMachineOnce) {
  for (const auto& machine : testing::every_machine()) {
    if (machine.topology.is_matrix()) continue;
    std::vector<int> shown(machine.topology.node_count());
    for (const PicturePanel& panel : lay_out(machine.topology)) {
      for (const auto& row : panel.rows) {
        for (const Node node : row.nodes) ++shown[index(node)];
      }
    }
    for (const int count : shown) EXPECT_EQ(count, 1) << machine.name;
  }
}

TEST(AllocationPicture, DrawsAMeshAsAGrid) {
  const Topology mesh = topology("mesh:2x3 core:1");
  std::vector<NodeUse> uses(6);
  uses[0] = uses[1] = {NodeUse::Kind::job, 0};
  uses[2] = {NodeUse::Kind::kept, 0};
  uses[4] = {NodeUse::Kind::drained};
  uses[5] = {NodeUse::Kind::failed};
  const PictureJob jobs[] = {{"heat", "2 nodes"}};
  EXPECT_EQ(draw_allocation(lay_out(mesh), uses, jobs, false),
            "  A A +\n"
            "  . - !\n"
            "\n"
            "  A  heat: 2 nodes\n"
            "  .  free\n"
            "  +  kept free for the job whose template it belongs to\n"
            "  -  drained\n"
            "  !  failed\n");
  EXPECT_THAT(draw_allocation(lay_out(mesh), uses, jobs, true), HasSubstr("\033["));
}

TEST(AllocationPicture, EscapesNamesInSvg) {
  const Topology mesh = topology("mesh:1x2 core:1");
  const std::vector<NodeUse> uses{{NodeUse::Kind::job, 0}, {}};
  const PictureJob jobs[] = {{"a<b", "1 node"}};
  const std::string svg = allocation_svg(mesh, lay_out(mesh), uses, jobs);
  EXPECT_THAT(svg, HasSubstr("a&lt;b"));
  EXPECT_EQ(svg.find("a<b"), std::string::npos);
}

TEST(AllocationPicture, HasLettersForManyJobs) {
  EXPECT_EQ(job_letter(0), 'A');
  EXPECT_EQ(job_letter(26), 'a');
  EXPECT_EQ(job_letter(62), 'A');
}

}  // namespace
}  // namespace rankloom
