// SPDX-License-Identifier: Apache-2.0
#include "rankloom/allocate/routing/conflict_verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/allocate/routing/resource_names.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::topology;

TEST(ConflictVerifier, FindsTheRouterThatTwoJobsUse) {
  const Topology machine = topology("mesh:3x3 core:1");
  // Row 0 uses router 1 between its ends, and so does column 1.
  const std::vector<RunningJob> jobs{{"row", {Node{0}, Node{2}}}, {"column", {Node{1}, Node{7}}}};
  const auto conflicts = verify(machine.network(), Exclusive::routers, jobs);
  ASSERT_EQ(conflicts.size(), 1);
  EXPECT_EQ(conflicts[0].kind, Conflict::Kind::router);
  EXPECT_EQ(conflicts[0].number, 1);
  EXPECT_EQ(to_string(conflicts[0], machine.network()), "router 1 is used by jobs row and column");
  EXPECT_TRUE(verify(machine.network(), Exclusive::links, jobs).empty());  // the routes cross but share no link
}

TEST(ConflictVerifier, FindsTheLinksThatTwoJobsUse) {
  const Topology machine = topology("tree:2,2,2 core:1");
  const std::vector<RunningJob> jobs{{"a", {Node{0}, Node{2}}}, {"b", {Node{1}, Node{3}}}};
  const auto conflicts = verify(machine.network(), Exclusive::links, jobs);
  EXPECT_EQ(conflicts.size(), 4);  // up and down, above both switches
  for (const Conflict& conflict : conflicts) EXPECT_EQ(conflict.kind, Conflict::Kind::link);
  EXPECT_THAT(to_string(conflicts[0], machine.network()), ::testing::HasSubstr("is used by jobs a and b"));
}

TEST(ResourceNames, AreThoseOfNodesAndOfTheNodesBelowSwitches) {
  const auto names = [](std::uint32_t count) {
    std::vector<std::string> list;
    for (std::uint32_t node = 1; node <= count; ++node) list.push_back("n" + std::to_string(node));
    return list;
  };
  const AllocationMachine tree = allocation_machine("tree:2,4 core:1", Exclusive::routers);
  const std::vector<RunningJob> jobs{{"7", {Node{0}, Node{1}}}, {"9", {Node{2}, Node{3}}}};
  const auto conflicts = verify(tree.network(), Exclusive::routers, jobs);
  ASSERT_EQ(conflicts.size(), 1U);
  EXPECT_EQ(to_string(conflicts[0], tree.network(), names(8)), "the switch above n1 to n4 is used by jobs 7 and 9");
  const AllocationMachine mesh = allocation_machine("mesh:3x3 core:1", Exclusive::routers);
  EXPECT_EQ(to_string(Conflict{Conflict::Kind::router, 4, "a", "b"}, mesh.network(), names(9)),
            "the router of n5 is used by jobs a and b");
  EXPECT_EQ(to_string(Conflict{Conflict::Kind::node, 4, "a", "b"}, mesh.network(), names(9)),
            "n5 belongs to jobs a and b");
  const std::vector<RunningJob> row{{"a", {Node{0}, Node{2}}}, {"b", {Node{0}, Node{1}}}};
  for (const Conflict& conflict : verify(mesh.network(), Exclusive::links, row)) {
    if (conflict.kind != Conflict::Kind::link) continue;
    const std::string text = to_string(conflict, mesh.network(), names(9));
    EXPECT_TRUE(text == "the link from n1 to n2 is used by jobs a and b" ||
                text == "the link from n2 to n1 is used by jobs a and b")
        << text;
  }
}

TEST(DefaultExclusive, IsLinksForHierarchiesOfSwitches) {
  EXPECT_EQ(default_exclusive(topology("switch:2 node:4 core:2")), Exclusive::links);
  EXPECT_EQ(default_exclusive(topology("tree:2,4 core:1")), Exclusive::links);
  EXPECT_EQ(default_exclusive(topology("torus:4x4 core:1")), Exclusive::routers);
  EXPECT_EQ(default_exclusive(topology("fattree:k=4 core:1")), Exclusive::links);
}

TEST(ConflictVerifier, FindsANodeThatBelongsToTwoJobs) {
  const Topology machine = topology("mesh:3x3 core:1");
  const auto conflicts =
      verify(machine.network(), Exclusive::routers, std::vector<RunningJob>{{"a", {Node{4}}}, {"b", {Node{4}}}});
  ASSERT_EQ(conflicts.size(), 1);
  EXPECT_EQ(to_string(conflicts[0], machine.network()), "node 4 belongs to jobs a and b");
}

TEST(ConflictVerifier, AllowsASingleNodeJobOnARouterOfAnotherJob) {
  const Topology machine = topology("mesh:3x3 core:1");
  EXPECT_TRUE(verify(machine.network(), Exclusive::routers,
                     std::vector<RunningJob>{{"ring", {Node{0}, Node{2}, Node{6}, Node{8}}}, {"single", {Node{1}}}})
                  .empty());
}

TEST(ConflictVerifier, IgnoresJobsThatHaveEnded) {
  const Topology machine = topology("mesh:3x3 core:1");
  ConflictVerifier verifier(machine.network(), Exclusive::routers);
  EXPECT_TRUE(verifier.start({"a", {Node{0}, Node{2}}}).empty());
  verifier.end("a");
  EXPECT_TRUE(verifier.start({"b", {Node{1}, Node{7}}}).empty());
  EXPECT_FALSE(verifier.start({"c", {Node{0}, Node{2}}}).empty());
}

}  // namespace
}  // namespace rankloom
