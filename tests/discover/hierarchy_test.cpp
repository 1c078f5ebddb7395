// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Topology built(std::string_view hierarchy, std::string_view distance) {
  auto machine = parse_hierarchy(hierarchy, distance);
  EXPECT_TRUE(machine) << (machine ? "" : to_string(machine.error()));
  auto topology = Topology::build(std::move(*machine));
  EXPECT_TRUE(topology) << (topology ? "" : to_string(topology.error()));
  return *topology;
}

std::string problem(std::string_view hierarchy, std::string_view distance) {
  const auto machine = parse_hierarchy(hierarchy, distance);
  return machine ? "none" : to_string(machine.error());
}

std::vector<std::string> kinds(const Topology& topology) {
  std::vector<std::string> result;
  for (const auto& level : topology.levels()) result.push_back(level.kind);
  return result;
}

TEST(Hierarchy, IsReadBottomUp) {
  const Topology machine = built("4:8:6", "1:10:100");
  EXPECT_EQ(machine.core_count(), 192U);
  EXPECT_EQ(machine.node_count(), 6U);
  EXPECT_EQ(machine.cost(Core{0}, Core{3}).inverse_bandwidth, 1);
  EXPECT_EQ(machine.cost(Core{3}, Core{4}).inverse_bandwidth, 10);
  EXPECT_EQ(machine.cost(Core{31}, Core{32}).inverse_bandwidth, 100);
}

TEST(Hierarchy, NamesItsLevels) {
  EXPECT_THAT(kinds(built("4", "1")), ElementsAre("node", "core"));  // the node is the complete machine
  EXPECT_EQ(built("4", "1").node_count(), 1U);
  EXPECT_THAT(kinds(built("4:2", "1:2")), ElementsAre("node", "core"));
  EXPECT_THAT(kinds(built("4:2:3", "1:2:3")), ElementsAre("node", "package", "core"));
  EXPECT_THAT(kinds(built("4:2:3:2:2", "1:2:3:4:5")), ElementsAre("switch", "switch", "node", "package", "core"));
}

TEST(Hierarchy, DistancesAreRealNumbers) {
  EXPECT_EQ(built("4:2", "0.5:3.7").cost(Core{0}, Core{4}).inverse_bandwidth, 3.7);
}

TEST(Hierarchy, ErrorsNameTheOption) {
  EXPECT_THAT(problem("4:8:6", "1:10"),
              HasSubstr("--distance: there are 2 distances for the 3 levels of --hierarchy 4:8:6"));
  EXPECT_THAT(problem("4:0:6", "1:10:100"), HasSubstr("--hierarchy: \"0\" is not a count"));
  EXPECT_THAT(problem("4::6", "1:10:100"), HasSubstr("--hierarchy: \"\" is not a count"));
  EXPECT_THAT(problem("", ""), HasSubstr("--hierarchy: \"\" is not a count"));
  EXPECT_THAT(problem("4:8", "1:x"), HasSubstr("--distance: \"x\" is not a distance"));
  EXPECT_THAT(problem("4:8", "1:-2"), HasSubstr("--distance: \"-2\" is not a distance"));
  EXPECT_THAT(problem("4:8", "1:nan"), HasSubstr("--distance: \"nan\" is not a distance"));
  EXPECT_THAT(problem("100000:100000", "1:2"), HasSubstr("--hierarchy: 100000: 10000000000 objects are more than"));
}

}  // namespace
}  // namespace rankloom
