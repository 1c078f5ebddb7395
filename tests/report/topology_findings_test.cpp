// SPDX-License-Identifier: Apache-2.0
// tests of report: what is odd about a machine.
#include "rankloom/report/topology_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::topology;

std::vector<std::string> remarks(std::string_view machine) {
  std::vector<std::string> texts;
  for (const auto& finding : check_topology(topology(machine))) {
    texts.push_back(finding.what);
    EXPECT_FALSE(finding.hint.empty());
  }
  return texts;
}

TEST(TopologyFindings, AreNoneForAPlainMachine) {
  EXPECT_THAT(remarks("switch:2=4.1 node:6=3.7 core:16=1"), IsEmpty());
  EXPECT_THAT(remarks("torus:4x4=5 core:2=1"), IsEmpty());
}

TEST(TopologyFindings, NameALevelThatIsCheaperThanTheOneBelow) {
  EXPECT_THAT(remarks("node:4=1 core:4=10"),
              ElementsAre(HasSubstr("level node (cost 1) is cheaper than level core below it")));
  EXPECT_THAT(remarks("node:4=10,1us core:4=1,2us"), ElementsAre(HasSubstr("cheaper")));
}

TEST(TopologyFindings, LookThroughPrivateLevels) {
  const auto found = remarks("node:4=1 package:1=5 core:4=10");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0], HasSubstr("level node (cost 1) is cheaper than level core"));
  EXPECT_THAT(found[1], HasSubstr("level package has one object under every parent"));
}

TEST(TopologyFindings, NameANetworkThatIsCheaperThanANode) {
  EXPECT_THAT(remarks("torus:4x4=1 core:2=5"), ElementsAre(HasSubstr("one hop")));
}

TEST(TopologyFindings, CountUnequalNodes) {
  EXPECT_THAT(remarks("node:3=10 core:2+2+8=1"), ElementsAre(HasSubstr("2 with 2, 1 with 8")));
}

TEST(TopologyFindings, CountUnusedAndSharedCores) {
  EXPECT_THAT(remarks("node:2=10 core:4=1 !core:0"), ElementsAre(HasSubstr("1 of 8 cores must not be used")));
  EXPECT_THAT(remarks("node:2=10 core:4*3=1"), ElementsAre(HasSubstr("8 cores may hold several ranks")));
}

}  // namespace
}  // namespace rankloom
