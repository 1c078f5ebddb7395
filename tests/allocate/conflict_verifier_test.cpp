// SPDX-License-Identifier: Apache-2.0
#include "rankloom/allocate/routing/conflict_verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::topology;

TEST(Verifier, FindsTheRouterThatTwoJobsPass) {
  const Topology machine = topology("mesh:3x3 core:1");
  // Row 0 from end to end passes node 1, and so does column 1.
  const std::vector<RunningJob> jobs{{"row", {Node{0}, Node{2}}}, {"column", {Node{1}, Node{7}}}};
  const auto met = verify(machine.network(), Exclusive::routers, jobs);
  ASSERT_EQ(met.size(), 1);
  EXPECT_EQ(met[0].kind, Meeting::Kind::router);
  EXPECT_EQ(met[0].number, 1);
  EXPECT_EQ(to_string(met[0], machine.network()), "router 1 is passed by jobs row and column");
  EXPECT_TRUE(verify(machine.network(), Exclusive::links, jobs).empty());  // they cross, but on no cable
}

TEST(Verifier, FindsTheLinkThatTwoJobsPass) {
  const Topology machine = topology("tree:2,2,2 core:1");
  const std::vector<RunningJob> jobs{{"a", {Node{0}, Node{2}}}, {"b", {Node{1}, Node{3}}}};
  const auto met = verify(machine.network(), Exclusive::links, jobs);
  EXPECT_EQ(met.size(), 4);  // up and down, above both switches
  for (const Meeting& one : met) EXPECT_EQ(one.kind, Meeting::Kind::link);
  EXPECT_THAT(to_string(met[0], machine.network()), ::testing::HasSubstr("is passed by jobs a and b"));
}

TEST(Verifier, FindsANodeGivenTwice) {
  const Topology machine = topology("mesh:3x3 core:1");
  const auto met =
      verify(machine.network(), Exclusive::routers, std::vector<RunningJob>{{"a", {Node{4}}}, {"b", {Node{4}}}});
  ASSERT_EQ(met.size(), 1);
  EXPECT_EQ(to_string(met[0], machine.network()), "node 4 belongs to jobs a and b");
}

TEST(Verifier, LetsASingleNodeSitWhereOthersPass) {
  const Topology machine = topology("mesh:3x3 core:1");
  EXPECT_TRUE(verify(machine.network(), Exclusive::routers,
                     std::vector<RunningJob>{{"ring", {Node{0}, Node{2}, Node{6}, Node{8}}}, {"guest", {Node{1}}}})
                  .empty());
}

TEST(Verifier, ForgetsJobsThatHaveEnded) {
  const Topology machine = topology("mesh:3x3 core:1");
  Verifier verifier(machine.network(), Exclusive::routers);
  EXPECT_TRUE(verifier.start({"a", {Node{0}, Node{2}}}).empty());
  verifier.end("a");
  EXPECT_TRUE(verifier.start({"b", {Node{1}, Node{7}}}).empty());
  EXPECT_FALSE(verifier.start({"c", {Node{0}, Node{2}}}).empty());
}

}  // namespace
}  // namespace rankloom
