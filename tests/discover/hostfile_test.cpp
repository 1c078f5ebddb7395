// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/strings/hostfile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::pair<std::string, std::uint64_t>> hosts(std::string text) {
  const auto machine = read_hostfile(FileContents("hosts", std::move(text)));
  EXPECT_TRUE(machine) << (machine ? "" : to_string(machine.error()));
  std::vector<std::pair<std::string, std::uint64_t>> result;
  if (!machine) return result;
  for (const ObjectSpec& node : machine->root.children) result.emplace_back(node.name, node.children.at(0).repeat);
  return result;
}

std::string problem(std::string text) {
  const auto machine = read_hostfile(FileContents("hosts", std::move(text)));
  return machine ? "none" : to_string(machine.error());
}

TEST(Hostfile, ReadsEveryNotationOfSlots) {
  EXPECT_THAT(hosts("node1 4\nnode2:8\nnode3 slots=2\nnode4\n"),
              ElementsAre(Pair("node1", 4), Pair("node2", 8), Pair("node3", 2), Pair("node4", 1)));
}

TEST(Hostfile, RepeatedLinesWithoutACountAddUp) {
  EXPECT_THAT(hosts("a\nb\na\na\nb"), ElementsAre(Pair("a", 3), Pair("b", 2)));
}

TEST(Hostfile, IgnoresCommentsBlanksAndCarriageReturns) {
  EXPECT_THAT(hosts("# the cluster\r\n\r\n  node1.example.org \t 4  # fast\r\n#node2 4\r\nnode3:1"),
              ElementsAre(Pair("node1.example.org", 4), Pair("node3", 1)));
}

TEST(Hostfile, RefusesAHostWithACountTwice) {
  EXPECT_THAT(problem("a 2\nb 2\na 2\n"), HasSubstr("hosts:3: the host a is already in line 1"));
  EXPECT_THAT(problem("\na\na:2\n"), HasSubstr("hosts:3: the host a is already in line 2"));
  EXPECT_THAT(problem("a 2\na\n"), HasSubstr("hosts:2: the host a is already in line 1"));
}

TEST(Hostfile, ErrorsNameTheLine) {
  EXPECT_THAT(problem("a 2\nb 0\n"), HasSubstr("hosts:2: \"0\" is not a number of slots"));
  EXPECT_THAT(problem("a -1\n"), HasSubstr("hosts:1: \"-1\" is not a number of slots"));
  EXPECT_THAT(problem("a 4000000000\n"), HasSubstr("is not a number of slots from 1 to 1048576"));
  EXPECT_THAT(problem("a 2 3\n"), HasSubstr("hosts:1: \"a 2 3\" is not a host with its slots"));
  EXPECT_THAT(problem("a:\n"), HasSubstr("\"\" is not a number of slots"));
  EXPECT_THAT(problem("a\x01\n"), HasSubstr("\"a?\" is not a host"));
  EXPECT_THAT(problem("# nothing\n\n"), HasSubstr("names no host"));
  EXPECT_THAT(problem(""), HasSubstr("names no host"));
  std::string many;
  for (int i = 0; i < 17; ++i) many += "n" + std::to_string(i) + " 1048576\n";
  EXPECT_THAT(problem(many), HasSubstr("hosts:17: the hosts have more than"));
}

TEST(Hostfile, IsRecognisedByItsFirstLine) {
  EXPECT_TRUE(is_hostfile("# hosts\n\nnode1 4\n"));
  EXPECT_TRUE(is_hostfile("node1"));
  EXPECT_FALSE(is_hostfile("node1 slots=many\n"));
  EXPECT_FALSE(is_hostfile(""));
  EXPECT_FALSE(is_hostfile("# only a comment"));
  EXPECT_FALSE(is_hostfile("{\"a\": 1}"));
  EXPECT_FALSE(is_hostfile("two words"));
}

}  // namespace
}  // namespace rankloom
