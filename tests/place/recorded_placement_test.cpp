// SPDX-License-Identifier: Apache-2.0
// Tests of place: the placement of a launcher, from what its ranks reported when they were recorded.
#include "rankloom/place/recorded_placement.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two hosts a and b with two packages of two cores of two hardware threads; processing unit i + 4 belongs to the core
/// of unit i.
Topology two_hosts() {
  const auto leaf = [](std::uint32_t number) {
    return ObjectSpec{.kind = "pu", .name = {}, .between = {}, .os_index = number, .children = {}};
  };
  MachineSpec machine;
  machine.root = {.kind = "machine", .name = {}, .between = Cost{10, 0}, .os_index = {}, .children = {}};
  for (const char* const name : {"a", "b.cluster"}) {
    ObjectSpec node{.kind = "node", .name = name, .between = Cost{3, 0}, .os_index = {}, .children = {}};
    for (const std::uint32_t package : {0U, 2U}) {
      ObjectSpec cores{.kind = "package", .name = {}, .between = Cost{2, 0}, .os_index = {}, .children = {}};
      for (const std::uint32_t core : {package, package + 1})
        cores.children.push_back({.kind = "core",
                                  .name = {},
                                  .between = Cost{1, 0},
                                  .os_index = {},
                                  .children = {leaf(core), leaf(core + 4)}});
      node.children.push_back(std::move(cores));
    }
    machine.root.children.push_back(std::move(node));
  }
  return *Topology::build(std::move(machine));
}

/// Where the ranks ran: host and processing units of each.
Result<std::vector<Core>> placement_of(const std::vector<std::pair<std::string, std::string>>& ranks,
                                       Capacities::Options fit = {}) {
  Locations locations;
  const auto number_in = [](std::vector<std::string>& texts, const std::string& text) {
    const auto found = std::find(texts.begin(), texts.end(), text);
    const auto number = static_cast<std::uint32_t>(found - texts.begin());
    if (found == texts.end()) texts.push_back(text);
    return number;
  };
  for (const auto& [host, cpus] : ranks)
    locations.of_ranks.push_back({number_in(locations.hosts, host), number_in(locations.cpu_sets, cpus), 1});
  const Topology topology = two_hosts();
  return recorded_placement(locations, topology,
                            *Capacities::of(topology, static_cast<std::uint32_t>(ranks.size()), fit));
}

TEST(RecordedPlacement, IsTheFirstHardwareThreadOfTheCoreOfARank) {
  EXPECT_THAT(*placement_of({{"b", "1,5"}, {"a", "3"}, {"a.other", "4"}, {"b.cluster", "0"}}),
              ElementsAre(Core{10}, Core{6}, Core{0}, Core{8}));
}

TEST(RecordedPlacement, RanksThatMayRunOnSeveralCoresGetOneEach) {
  EXPECT_THAT(*placement_of({{"a", "0-7"}, {"a", "2-3,6-7"}, {"a", "0-7"}, {"a", "0-7"}}),
              ElementsAre(Core{0}, Core{4}, Core{2}, Core{6}));
}

TEST(RecordedPlacement, SpreadsRanksThatAreNotBound) {
  EXPECT_THAT(*placement_of({{"a", "0-7"}, {"a", "0-7"}, {"b", "0-7"}}), ElementsAre(Core{0}, Core{4}, Core{8}));
}

TEST(RecordedPlacement, FollowsSlotsOfSeveralCores) {
  EXPECT_THAT(*placement_of({{"a", "2-3,6-7"}, {"b", "0-1"}}, {.shapes = SlotShape{.cores = 2}}),
              ElementsAre(Core{4}, Core{8}));
}

TEST(RecordedPlacement, IsUnknownIfTheMachineIsAnotherOne) {
  const auto error = [](const Result<std::vector<Core>>& placement) {
    return placement ? std::string("none") : placement.error().what;
  };
  EXPECT_THAT(error(placement_of({{"c", "0"}})), HasSubstr("rank 0 was on c, which is not a node"));
  EXPECT_THAT(error(placement_of({{"a", "0"}, {"a", "64"}})), HasSubstr("rank 1 was on processing units 64 of a"));
  EXPECT_THAT(error(placement_of({{"a", "0"}, {"a", "0"}})), HasSubstr("more ranks on core 0"));
  const Topology numbered = testing::topology("node:2=10 core:2=1");
  Locations locations{{"node0"}, {"0"}, {{0, 0, 1}}};
  EXPECT_THAT(error(recorded_placement(locations, numbered, *Capacities::of(numbered, 1, {}))),
              HasSubstr("does not name its hosts"));
  EXPECT_THAT(error(recorded_placement({}, numbered, *Capacities::of(numbered, 1, {}))), HasSubstr("not recorded"));
}

}  // namespace
}  // namespace rankloom
