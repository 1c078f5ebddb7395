// SPDX-License-Identifier: Apache-2.0
// discover/probe: widths of channels from measured rates, and the plan of these measurements.
#include "rankloom/discover/probe/probe_widths.hpp"

#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/probe/load_plan.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Width = ChannelSpec::Width;

/// Rates of 1, 2, 4, … pairs through a channel that carries `width` messages of 1 GB/s.
std::vector<ProbeLoad> loads_of(const std::string& channel, double width, std::uint32_t max_pairs, double noise = 0,
                                std::uint64_t seed = 0) {
  Random random(seed);
  std::vector<ProbeLoad> loads;
  for (std::uint32_t pairs = 1; pairs <= max_pairs; pairs *= 2) {
    for (int repetition = 0; repetition < 3; ++repetition) {
      const double deviation = noise * (static_cast<double>(random.below(2001)) / 1000 - 1);
      loads.push_back({channel, pairs, 1e9 * std::min<double>(pairs, width) * (1 + deviation)});
    }
  }
  return loads;
}

TEST(Widths, AreTheRateOfManyPairsRelativeToOne) {
  EXPECT_THAT(widths_from_loads(loads_of("node", 2.5, 16)), ElementsAre(Width{"node", 2.5, Origin::measured}));
  EXPECT_THAT(widths_from_loads(loads_of("bus", 100, 8)), ElementsAre(Width{"bus", 8, Origin::measured}))
      << "more pairs than were measured cannot be inferred";
  EXPECT_THAT(widths_from_loads(loads_of("node", 1, 16)), ElementsAre(Width{"node", 1, Origin::measured}));
}

TEST(Widths, AreRobustAgainstNoise) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const auto narrow = widths_from_loads(loads_of("node", 1, 16, 0.03, seed));
    EXPECT_THAT(narrow, ElementsAre(Width{"node", 1, Origin::measured})) << seed;
    const auto wide = widths_from_loads(loads_of("node", 4, 16, 0.05, seed));
    ASSERT_EQ(wide.size(), 1U);
    EXPECT_NEAR(wide[0].messages, 4, 0.45) << seed;
  }
  auto loads = loads_of("node", 2, 8);
  loads[0].bytes_per_second /= 10;  // one of three repetitions was disturbed
  EXPECT_THAT(widths_from_loads(loads), ElementsAre(Width{"node", 2, Origin::measured}));
}

TEST(Widths, MorePairsThanTheChannelCarriesMayBeSlower) {
  const std::vector<ProbeLoad> loads{{"bus", 1, 1e9}, {"bus", 2, 2e9}, {"bus", 4, 1.5e9}};
  EXPECT_THAT(widths_from_loads(loads), ElementsAre(Width{"bus", 2, Origin::measured}));
  const std::vector<ProbeLoad> slower{{"bus", 1, 1e9}, {"bus", 2, 0.8e9}};
  EXPECT_THAT(widths_from_loads(slower), ElementsAre(Width{"bus", 1, Origin::measured}));
}

TEST(Widths, NeedOnePairAloneAndSeveralTogether) {
  EXPECT_THAT(widths_from_loads({}), IsEmpty());
  EXPECT_THAT(widths_from_loads(std::vector<ProbeLoad>{{"node", 1, 1e9}}), IsEmpty());
  EXPECT_THAT(widths_from_loads(std::vector<ProbeLoad>{{"node", 4, 1e9}}), IsEmpty());
}

TEST(Widths, AreAddedToTheLevelsOfAMachine) {
  std::vector<ProbeLoad> loads = loads_of("node", 2, 8);
  for (const ProbeLoad& load : loads_of("bus", 3, 4)) loads.push_back(load);
  for (const ProbeLoad& load : loads_of("uplink", 4, 8)) loads.push_back(load);
  MachineSpec racks = *parse_topology_string("rack:2=4 node:2=2 core:8=1 width:bus=9");
  add_measured_widths(loads, racks);
  EXPECT_THAT(racks.channels.widths, ElementsAre(Width{"bus", 3, Origin::measured}, Width{"node", 2, Origin::measured},
                                                 Width{"rack", 4, Origin::measured}));
  MachineSpec host = *parse_topology_string("package:2=2 core:8=1");
  add_measured_widths(loads, host);
  EXPECT_THAT(host.channels.widths, ElementsAre(Width{"bus", 3, Origin::measured}));
}

TEST(Widths, AProbedMachineHasThem) {
  const auto table =
      read_probe_table(FileContents("table",
                                    "rankloom-probe 1\nrank 0 a -1\nrank 1 a -1\nrank 2 b -1\nrank 3 b -1\n"
                                    "pair 0 1 alone 8:500 1048576:250000\npair 0 2 alone 8:9000 1048576:2000000\n"
                                    "pair 2 3 alone 8:500 1048576:250000\npair 1 3 alone 8:9000 1048576:2000000\n"
                                    "load node 1 1e9\nload node 2 1.52e9\nend\n"));
  ASSERT_TRUE(table) << to_string(table.error());
  const auto probed = analyse_probe(*table, {});
  ASSERT_TRUE(probed) << to_string(probed.error());
  EXPECT_THAT(probed->machine.channels.widths, ElementsAre(Width{"node", 1.5, Origin::measured}));
  EXPECT_EQ(probed->machine.channels.cost_origin("node"), Origin::measured);
  const auto under_load = analyse_probe(*table, {.under_load = true});
  ASSERT_TRUE(under_load);
  EXPECT_THAT(under_load->machine.channels.widths, IsEmpty());
  const auto known = calibrate(*Topology::build(probed->machine), *table, {});
  ASSERT_TRUE(known) << to_string(known.error());
  EXPECT_EQ(known->machine.channels.width("node"), 1.5);
}

TEST(Widths, MalformedLoadsAreErrors) {
  for (const char* const load :
       {"load card 1 1e9", "load node 0 1e9", "load node 1 0", "load node 1 fast", "load node 1"}) {
    const std::string text =
        std::string("rankloom-probe 1\nrank 0 a -1\nrank 1 b -1\npair 0 1 alone 8:500\n") + load + "\nend\n";
    EXPECT_FALSE(read_probe_table(FileContents("table", text))) << load;
  }
}

/// "node 1: 0>4" per step.
std::vector<std::string> texts_of(const std::vector<LoadStep>& steps) {
  std::vector<std::string> texts;
  for (const LoadStep& step : steps) {
    std::string text = std::string(step.channel) + ":";
    for (const RankPair& pair : step.pairs) text += " " + std::to_string(pair.from) + ">" + std::to_string(pair.to);
    texts.push_back(std::move(text));
  }
  return texts;
}

TEST(LoadPlan, GrowsFromOnePairToAll) {
  EXPECT_THAT(texts_of(LoadPlan::make({"a", "a", "a", "b", "b", "b"}, {})),
              ElementsAre("node: 0>3", "node: 0>3 1>4", "node: 0>3 1>4 2>5"))
      << "two pairs inside a node need four ranks";
  EXPECT_THAT(texts_of(LoadPlan::make({"a", "a", "a", "a"}, {})), ElementsAre("bus: 0>1", "bus: 0>1 2>3"));
  EXPECT_THAT(LoadPlan::make({"a", "b", "c"}, {}), IsEmpty()) << "one rank per node cannot share its card";
}

TEST(LoadPlan, UplinksAreMeasuredWithOneRankPerHost) {
  EXPECT_THAT(
      texts_of(LoadPlan::make({"a", "b", "c.x.org", "d", "a"}, {.from = {"a.x.org", "b"}, .to = {"c", "d", "e"}})),
      ElementsAre("uplink: 0>2", "uplink: 0>2 1>3"));
}

TEST(LoadPlan, TheHostsOfTwoSwitchesAreKnownFromTheMachine) {
  const UplinkHosts hosts = hosts_of_uplink(*load_topology("switch:3=4 node:2=2 core:2=1"));
  EXPECT_THAT(hosts.from, ElementsAre("node0", "node1"));
  EXPECT_THAT(hosts.to, ElementsAre("node2", "node3"));
  EXPECT_THAT(hosts_of_uplink(*load_topology("node:4=2 core:2=1")).from, IsEmpty());
  EXPECT_THAT(hosts_of_uplink(*load_topology("torus:4x4=2 core:2=1")).from, IsEmpty());
}

}  // namespace
}  // namespace rankloom
