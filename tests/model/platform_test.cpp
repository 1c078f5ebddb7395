// SPDX-License-Identifier: Apache-2.0
// model/machine: a machine as channels that messages share.
#include "rankloom/model/machine/platform.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/route_table.hpp"

namespace rankloom {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

std::vector<std::string> route_names(const Platform& platform, std::uint32_t from, std::uint32_t to) {
  std::vector<Channel> channels;
  platform.route(Core{from}, Core{to}, channels);
  std::vector<std::string> names;
  for (const Channel channel : channels) names.push_back(platform.name(channel));
  return names;
}

double rate_of(const Platform& platform, const std::string& name) {
  for (Channel channel = 0; channel < platform.channel_count(); ++channel)
    if (platform.name(channel) == name) return platform.rate(channel);
  return 0;
}

TEST(Platform, AMessageUsesTheChannelsBelowTheDivergenceLevel) {
  const Topology topology = *load_topology("switch:2=4,3us node:3=3,2us core:4=1,100ns");
  const Platform platform = *Platform::of(topology);
  EXPECT_THAT(route_names(platform, 0, 0), ElementsAre());
  EXPECT_THAT(route_names(platform, 0, 1), ElementsAre("core 0 of node 0, out", "core 1 of node 0, in"));
  EXPECT_THAT(route_names(platform, 1, 4),
              ElementsAre("core 1 of node 0, out", "node 0's card, out", "node 1's card, in", "core 0 of node 1, in"));
  EXPECT_THAT(route_names(platform, 0, 12),
              ElementsAre("core 0 of node 0, out", "node 0's card, out", "uplink of switch 0, out",
                          "uplink of switch 1, in", "node 3's card, in", "core 0 of node 3, in"));
}

TEST(Platform, MessagesStayOnTheRailOfTheirDestination) {
  const Topology topology = *load_topology("leaf:2=8 node:2=4 rails:2 core:2=1");
  const Platform platform = *Platform::of(topology);
  EXPECT_THAT(route_names(platform, 1, 3), ElementsAre("core 1 of node 0, out", "node 0's card on rail 1, out",
                                                       "node 1's card on rail 1, in", "core 1 of node 1, in"));
  EXPECT_THAT(route_names(platform, 0, 3),
              ElementsAre("core 0 of node 0, out", "core 1 of node 0, in", "core 1 of node 0, out",
                          "node 0's card on rail 1, out", "node 1's card on rail 1, in", "core 1 of node 1, in"))
      << "inside the node to the other rail";
  EXPECT_THAT(route_names(platform, 0, 5),
              ElementsAre("core 0 of node 0, out", "node 0's card on rail 0, out", "uplink of leaf 0 on rail 0, out",
                          "uplink of leaf 1 on rail 1, in", "node 2's card on rail 1, in", "core 1 of node 2, in"))
      << "the switches above connect the rails";
  EXPECT_DOUBLE_EQ(rate_of(platform, "node 1's card on rail 1, in"), 0.25e9);
  EXPECT_DOUBLE_EQ(rate_of(platform, "uplink of leaf 1 on rail 0, out"), 0.125e9);
  EXPECT_DOUBLE_EQ(platform.max_rate(Core{0}, Core{2}), 0.25e9);
  EXPECT_DOUBLE_EQ(platform.max_rate(Core{0}, Core{3}), 0.2e9);
}

TEST(Platform, RailsAreCrossedAboveThemIfTheNodesAreSlow) {
  const Platform platform = *Platform::of(*load_topology("leaf:2=8 node:2=4 rails:2 core:2=5"));
  EXPECT_THAT(route_names(platform, 0, 3),
              ElementsAre("core 0 of node 0, out", "node 0's card on rail 0, out", "uplink of leaf 0 on rail 0, out",
                          "uplink of leaf 0 on rail 1, in", "node 1's card on rail 1, in", "core 1 of node 1, in"));
  EXPECT_DOUBLE_EQ(platform.max_rate(Core{0}, Core{3}), 0.125e9);
}

TEST(Platform, ChannelsHaveNamesInPlainWords) {
  const auto names = [](const std::string& text) {
    const Platform platform = *Platform::of(*load_topology(text));
    std::vector<std::string> all;
    for (Channel channel = 0; channel < platform.channel_count(); ++channel) all.push_back(platform.name(channel));
    return all;
  };
  EXPECT_THAT(
      names("switch:2=3 node:2=2 core:2=1 width:bus=2"),
      IsSupersetOf({"core 1 of node 2, in", "node 3's card, out", "uplink of switch 1, in", "memory bus of node 2"}));
  EXPECT_THAT(names("node:2=2 package:2=1 core:2=1 width:package=2"), Contains("package 1 of node 1, out"));
  EXPECT_THAT(names("torus:2x3=2 core:2=1"), Contains("link from node (0,1) to node (0,2)"));
  EXPECT_THAT(names("mesh:3=2 core:2=1"), Contains("link from node 1 to node 2"));
  EXPECT_THAT(names("fattree:2,2/1,1=2 core:2=1"),
              IsSupersetOf({"link from node 0 to switch 0", "link from switch 0 to switch 2"}));
  MachineSpec named = load_topology("node:2=2 core:2=1")->spec();
  named.root.children = {named.root.children[0], named.root.children[0]};
  for (std::size_t node = 0; node < 2; ++node) {
    named.root.children[node].repeat = 1;
    named.root.children[node].name = node == 0 ? "alpha" : "beta";
  }
  EXPECT_EQ(Platform::of(*Topology::build(named))->name(Channel{8 + 3}), "beta's card, in");
}

TEST(Platform, CostsAreNanosecondsUnlessARateIsGiven) {
  const Topology topology = *load_topology("node:2=4 core:2=2");
  const Platform plain = *Platform::of(topology);
  EXPECT_DOUBLE_EQ(plain.max_rate(Core{0}, Core{1}), 0.5e9);
  EXPECT_DOUBLE_EQ(plain.max_rate(Core{0}, Core{2}), 0.25e9);
  EXPECT_EQ(plain.latency(Core{0}, Core{2}), 0);
  const Platform scaled = *Platform::of(*topology.with_channels({.base_rate = 5e9, .base_latency = 1e-7}));
  EXPECT_DOUBLE_EQ(scaled.max_rate(Core{0}, Core{1}), 5e9);
  EXPECT_DOUBLE_EQ(scaled.max_rate(Core{0}, Core{2}), 2.5e9);
  EXPECT_DOUBLE_EQ(scaled.latency(Core{0}, Core{1}), 1e-7);
  EXPECT_DOUBLE_EQ(scaled.latency(Core{0}, Core{2}), 2e-7);
}

TEST(Platform, AWidthAllowsConcurrentMessages) {
  const Topology topology = *load_topology("switch:2=4 node:2=2 package:2=1.5 core:2=1");
  const Platform plain = *Platform::of(topology);
  EXPECT_DOUBLE_EQ(rate_of(plain, "uplink of switch 0, out"), 0.25e9);
  EXPECT_DOUBLE_EQ(rate_of(plain, "node 1's card, in"), 0.5e9);
  EXPECT_EQ(rate_of(plain, "package 0 of node 0, out"), 0) << "packages have no limit by default";
  const Platform wide = *Platform::of(*topology.with_channels({.widths = {{"switch", 4}, {"bus", 3}, {"package", 2}}}));
  EXPECT_DOUBLE_EQ(rate_of(wide, "uplink of switch 0, out"), 1e9);
  EXPECT_DOUBLE_EQ(rate_of(wide, "memory bus of node 3"), 3e9);
  EXPECT_DOUBLE_EQ(rate_of(wide, "package 0 of node 0, out"), 2 / 1.5 * 1e9);
  EXPECT_THAT(route_names(wide, 0, 1),
              ElementsAre("core 0 of node 0, out", "memory bus of node 0", "core 1 of node 0, in"));
  EXPECT_DOUBLE_EQ(wide.max_rate(Core{0}, Core{8}), 0.25e9) << "the rate of a single message does not change";
}

TEST(Platform, UsesTheRoutesOfTheNetwork) {
  for (const char* text : {"torus:4x3=2,1us core:2=1", "mesh:3x3 core:2", "fattree:4,4/2,1=2 core:2=1",
                           "dragonfly:4,2,2=2 core:1", "tree:3,3 core:2"}) {
    const Topology topology = *load_topology(text);
    if (!topology.routed()) continue;
    const Platform platform = *Platform::of(topology);
    for (const Node from : topology.nodes()) {
      for (const Node to : topology.nodes()) {
        if (from == to) continue;
        std::vector<Link> links;
        topology.network().route(from, to, links);
        const Core first = topology.first_core(0, index(from)), last = topology.first_core(0, index(to));
        const Channel first_link = platform.channel_count() - topology.network().link_count();
        std::vector<Channel> wanted{2 * Channel{index(first)}};
        for (const Link link : links) wanted.push_back(first_link + index(link));
        wanted.push_back(2 * Channel{index(last)} + 1);
        std::vector<Channel> channels;
        platform.route(first, last, channels);
        ASSERT_EQ(channels, wanted) << text;
      }
    }
  }
}

TEST(Platform, NoChannelIsSlowerThanASingleMessageOnIt) {
  for (const char* text :
       {"switch:2=1 node:2=5 core:3=2", "node:2=4,1us core:2=1", "leaf:2=8 node:2=4 rails:2 core:4=1",
        "leaf:2=8 node:2=4 rails:2 core:2=5", "torus:4x4=0.5 core:4=3", "mesh:3x3 package:2 core:2"}) {
    const Topology topology = *load_topology(text);
    const Platform platform = *Platform::of(*topology.with_channels({.widths = {{"bus", 1}}}));
    for (const Core p : topology.cores()) {
      for (const Core q : topology.cores()) {
        std::vector<Channel> channels;
        platform.route(p, q, channels);
        for (const Channel channel : channels)
          ASSERT_GE(platform.rate(channel) * (1 + 1e-12), platform.max_rate(p, q))
              << text << ": " << platform.name(channel);
      }
    }
  }
}

TEST(RouteTable, HasTheRoutesOfThePlatform) {
  for (const char* text :
       {"switch:2=4,3us node:3=3,2us package:2=2 core:4=1,100ns width:bus=4,package=2", "torus:4x3=2,1us core:2=1",
        "fattree:4,4/2,1=2 core:2=1 width:bus=2", "dragonfly:4,2,2=2 core:1", "node:3=5 core:1+4+2=1", "core:4",
        "leaf:2=8,2us node:3=4 rails:2 numa:2=2 core:2=1 width:bus=4", "leaf:2=8 node:2=4 rails:2 core:2=5",
        "node:3=4 rails:4 core:4=1"}) {
    const Topology topology = *load_topology(text);
    const Platform platform = *Platform::of(topology);
    const RouteTable table(platform);
    for (int repetition = 0; repetition < 2; ++repetition) {
      for (const Core p : topology.cores()) {
        for (const Core q : topology.cores()) {
          std::vector<Channel> route, tabulated;
          platform.route(p, q, route);
          table.for_each_channel(p, q, [&](Channel channel) { tabulated.push_back(channel); });
          ASSERT_THAT(tabulated, ::testing::UnorderedElementsAreArray(route)) << text;
          ASSERT_EQ(table.seconds(p, q), platform.seconds(p, q)) << text;
          ASSERT_EQ(table.max_rate(p, q), platform.max_rate(p, q)) << text;
        }
      }
    }
  }
}

TEST(Platform, AMachineStatesItsWidths) {
  const std::string levels = "switch:2=4 node:2=2 core:2=1";
  const Topology stated = *load_topology(levels + " width:switch=4,bus=3");
  EXPECT_EQ(stated.spec().channels.widths, (std::vector<ChannelSpec::Width>{{"bus", 3}, {"switch", 4}}));
  const Platform platform = *Platform::of(stated);
  EXPECT_DOUBLE_EQ(rate_of(platform, "uplink of switch 0, out"), 1e9);
  EXPECT_DOUBLE_EQ(rate_of(platform, "memory bus of node 3"), 3e9);
  const Topology read = *Topology::build(*read_machine_json({"machine.json", write_machine_json(stated.spec())}));
  EXPECT_EQ(read.spec().channels, stated.spec().channels);
  for (const char* token : {"width:", "width", "width:node", "width:node=x", "width:rack=2", "width:node=0.5"})
    EXPECT_FALSE(load_topology(levels + " " + token)) << token;
}

TEST(Platform, RejectsInvalidOptions) {
  const Topology topology = *load_topology("node:2=4,1us core:2=2");
  EXPECT_THAT(topology.with_channels({.widths = {{"rack", 2}}}).error().what, HasSubstr("rack"));
  EXPECT_THAT(topology.with_channels({.widths = {{"rack", 2}}}).error().hint, HasSubstr("node"));
  EXPECT_THAT(topology.with_channels({.widths = {{"node", 0.5}}}).error().what,
              HasSubstr("the width 0.5 of node is below 1"));
  EXPECT_THAT(topology.with_channels({.base_latency = 1e-6}).error().what, HasSubstr("already has latencies"));
  EXPECT_THAT(Platform::of(*Topology::from_matrix(2, {0, 1, 1, 0})).error().what, HasSubstr("distance matrix"));
}

}  // namespace
}  // namespace rankloom
