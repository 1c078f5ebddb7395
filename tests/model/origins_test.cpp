// SPDX-License-Identifier: Apache-2.0
// model/machine: where the numbers of a prediction come from.
#include "rankloom/model/machine/origins.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/topology_json.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

using Width = ChannelSpec::Width;

constexpr double unlimited = std::numeric_limits<double>::infinity();

TEST(Origins, EveryOriginHasAName) {
  for (const Origin origin : {Origin::assumed, Origin::discovered, Origin::stated, Origin::measured})
    EXPECT_EQ(parse_origin(to_string(origin)), origin);
  EXPECT_FALSE(parse_origin("guessed"));
}

TEST(Origins, WidthsThatNobodyGivesAreAssumed) {
  EXPECT_THAT(effective_widths(*load_topology("switch:2=4 node:2=2 core:2=1 width:node=2")),
              ElementsAre(Width{"switch", 1, Origin::assumed}, Width{"node", 2, Origin::stated},
                          Width{"bus", unlimited, Origin::assumed}));
  EXPECT_THAT(effective_widths(*load_topology("torus:4x4=2 core:2=1 width:bus=3")),
              ElementsAre(Width{"link", 1, Origin::assumed}, Width{"bus", 3, Origin::stated}));
  EXPECT_THAT(effective_widths(*load_topology("node:4=2 core:1")), ElementsAre(Width{"node", 1, Origin::assumed}))
      << "one core does not share its bus";
  EXPECT_THAT(effective_widths(*load_topology("package:2=2 core:4=1")),
              ElementsAre(Width{"bus", unlimited, Origin::assumed}))
      << "one node does not send to others";
  EXPECT_THAT(effective_widths(*Topology::from_matrix(2, {0, 1, 1, 0})), ElementsAre());
}

TEST(Origins, ALineNamesWhatIsAssumed) {
  const auto assumed = [](const char* text) { return assumed_numbers(*load_topology(text)); };
  EXPECT_EQ(assumed("switch:2=4 node:2=2 core:2=1"), "width switch=1, node=1, bus unlimited");
  EXPECT_EQ(assumed("switch:2=4 node:2=2 core:2=1 width:switch=4,node=2,bus=4"), "");
  EXPECT_EQ(assumed("node:2 package:2 core:2 width:node=1,bus=2"), "costs of node, package, core");
  EXPECT_EQ(assumed("node:2=5 package:1 core:2=1"), "width node=1, bus unlimited") << "one package has no cost";
}

TEST(Origins, ALineNamesWhatIsKnown) {
  const Topology stated = *load_topology("node:2=2 core:2=1 width:node=2");
  EXPECT_EQ(known_numbers(stated), "width node=2 (stated)");
  EXPECT_EQ(known_numbers(*load_topology("node:2=2 core:2=1")), "");
  ChannelSpec channels;
  channels.set_width("node", 2.5, Origin::measured);
  channels.set_width("bus", 4, Origin::discovered);
  channels.set_cost_origin("node", Origin::measured);
  channels.set_cost_origin("core", Origin::assumed);
  const Topology mixed = *stated.with_channels(channels);
  EXPECT_EQ(known_numbers(mixed), "width node=2.5 (measured), bus=4 (discovered); costs of node (measured)");
  EXPECT_EQ(assumed_numbers(mixed), "costs of core");
}

TEST(Origins, AreKeptInFiles) {
  MachineSpec machine = *parse_topology_string("node:2=2 core:2=1 width:node=2,bus=3");
  EXPECT_THAT(write_machine_json(machine), Not(HasSubstr("origin"))) << "stated is the default";
  machine.channels.set_width("node", 2.5, Origin::measured);
  machine.channels.card_rate = 12.5e9;
  machine.channels.set_cost_origin("node", Origin::discovered);
  machine.channels.set_cost_origin("core", Origin::assumed);
  const auto read = read_machine_json({"machine.json", write_machine_json(machine)});
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_EQ(read->channels, machine.channels);
}

TEST(Origins, FilesOfEarlierVersionsAreRead) {
  const auto read = [](const std::string& channels) {
    return read_machine_json(
        {"machine.json",
         R"({"rankloom": "topology", "version": 1, "machine": {"kind": "machine", "children": [{"kind": "node", "repeat": 2, "children": [{"kind": "core"}]}]}, "channels": )" +
             channels + "}"});
  };
  const auto earlier = read(R"({"width": {"node": 2}})");
  ASSERT_TRUE(earlier) << to_string(earlier.error());
  EXPECT_EQ(earlier->channels.widths, (std::vector<ChannelSpec::Width>{{"node", 2, Origin::stated}}));
  EXPECT_THAT(to_string(read(R"({"width": {"node": 2}, "origin": {"width": {"node": "guessed"}}})").error()),
              HasSubstr("unknown origin"));
  EXPECT_THAT(to_string(read(R"({"origin": {"width": {"node": "measured"}}})").error()), HasSubstr("no such width"));
  EXPECT_FALSE(read(R"({"origin": {"cost": "measured"}})"));
  EXPECT_FALSE(read(R"({"card_rate": -1})"));
}

TEST(Origins, DerivedWidthsHaveTwoDigitsAndAreAtLeastOne) {
  EXPECT_EQ(rounded_width(0.2), 1);
  EXPECT_EQ(rounded_width(1.9449), 1.9);
  EXPECT_EQ(rounded_width(12.7), 13);
  EXPECT_EQ(rounded_width(128), 130);
}

}  // namespace
}  // namespace rankloom
