// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/probe/circle_method.hpp"
#include "rankloom/discover/probe/level_detection.hpp"
#include "rankloom/discover/probe/probe_analysis.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CircleMethod, EveryPairExchangesOnceInRoundsOfDisjointPairs) {
  for (std::int64_t n = 1; n <= 33; ++n) {
    std::set<std::pair<std::int64_t, std::int64_t>> met;
    for (std::int64_t round = 0; round < circle_rounds(n); ++round) {
      for (std::int64_t rank = 0; rank < n; ++rank) {
        const auto partner = circle_partner(rank, round, n);
        if (partner < 0) {
          EXPECT_EQ(n % 2, 1);
          continue;
        }
        ASSERT_NE(partner, rank);
        EXPECT_EQ(circle_partner(partner, round, n), rank);
        if (rank < partner) {
          EXPECT_TRUE(met.emplace(rank, partner).second) << n << ": " << rank << " " << partner;
        }
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(n * (n - 1) / 2)) << n;
  }
}

TEST(Fit, FindsLatencyAndInverseBandwidth) {
  std::vector<ProbePair::Time> times;
  for (const double bytes : {8.0, 4096.0, 65536.0, 1048576.0}) times.push_back({bytes, 1500 + 0.25 * bytes, 0});
  const Cost cost = fit_cost(times);
  EXPECT_NEAR(cost.inverse_bandwidth, 0.25, 1e-6);
  EXPECT_NEAR(cost.latency, 1500, 1e-3);
}

TEST(Fit, NeverGivesAnInvalidCost) {
  for (const auto& times : {std::vector<ProbePair::Time>{},
                            {{8, 500, 0}},
                            {{8, 500, 0}, {65536, 400, 0}},
                            {{8, 1, 0}, {64, 1000, 0}},
                            {{8, 5, 0}, {8, 5, 0}}}) {
    const Cost cost = fit_cost(times);
    EXPECT_GT(cost.inverse_bandwidth, 0);
    EXPECT_GE(cost.latency, 0);
  }
}

/// Uniform in 0..1.
double draw(Random& random) {
  return static_cast<double>(random.below(1'000'000)) / 1e6;
}

struct Made {
  std::vector<std::string> hosts;        // by rank
  std::vector<std::vector<int>> groups;  // by level, finest first: the group of each rank
  std::vector<Cost> costs;               // by level, finest first, one more than groups
  double noise = 0.05;                   // of the logarithm
  double outliers = 0;                   // fraction of pairs that took ten times as long
  double measured = 1;                   // fraction of pairs that were measured
};

ProbeTable make_table(const Made& made, std::uint64_t seed) {
  Random random(seed);
  ProbeTable table;
  for (const std::string& host : made.hosts) table.ranks.push_back({host, -1});
  const auto n = static_cast<std::uint32_t>(made.hosts.size());
  for (std::uint32_t a = 0; a < n; ++a) {
    for (std::uint32_t b = a + 1; b < n; ++b) {
      if (draw(random) >= made.measured) continue;
      std::size_t level = 0;
      while (level < made.groups.size() && made.groups[level][a] != made.groups[level][b]) ++level;
      const double factor =
          std::exp(made.noise * (draw(random) + draw(random) + draw(random) + draw(random) - 2) * 1.73) *
          (draw(random) < made.outliers ? 10 : 1);
      ProbePair pair{.a = a, .b = b};
      for (const double bytes : {8.0, 4096.0, 65536.0, 1048576.0})
        pair.times.push_back(
            {bytes, factor * (made.costs[level].latency + made.costs[level].inverse_bandwidth * bytes), 0});
      table.pairs.push_back(std::move(pair));
    }
  }
  return table;
}

/// `outer` times `inner` groups of `size`, ranks assigned round-robin, so that consecutive ranks are in different
/// groups.
Made nested(int outer, int inner, int size) {
  Made made;
  const int groups = outer * inner;
  made.groups.resize(2);
  for (int rank = 0; rank < groups * size; ++rank) {
    const int group = rank % groups;
    made.hosts.push_back("h" + std::to_string(group));
    made.groups[0].push_back(group);
    made.groups[1].push_back(group / inner);
  }
  made.costs = {{0.27, 500}, {1.0, 2000}, {1.1, 2500}};  // Wang 2015: 1 : 3.7 : 4.1
  return made;
}

TEST(Probe, DetectsHostsAndSwitchesFromTimesOnly) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Made made = nested(2, 3, 4);
    made.noise = 0.01;
    const auto probed = analyse_probe(make_table(made, seed), {.ignore_host_names = true});
    ASSERT_TRUE(probed);
    const Topology topology = topology_of(probed->machine);
    EXPECT_EQ(shape_of(topology), "switch 2, node 6, core 24") << seed;
    EXPECT_THAT(probed->groups.at(0), ElementsAre(0, 6, 12, 18));
    EXPECT_NEAR(topology.levels()[2].cost->inverse_bandwidth, 0.27, 0.01);
    EXPECT_NEAR(topology.levels()[1].cost->inverse_bandwidth / topology.levels()[2].cost->inverse_bandwidth, 3.7, 0.15);
    EXPECT_NEAR(topology.levels()[0].cost->inverse_bandwidth / topology.levels()[2].cost->inverse_bandwidth, 4.1, 0.15);
  }
}

TEST(Probe, NoiseAndOutliersDoNotHideTheHosts) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Made made = nested(1, 4, 4);
    made.costs = {{0.5, 1000}, {20, 50000}, {20, 50000}};
    made.noise = 0.3;
    made.outliers = 0.05;
    const auto probed = analyse_probe(make_table(made, seed), {.ignore_host_names = true});
    ASSERT_TRUE(probed);
    ASSERT_EQ(probed->groups.size(), 4U) << seed << " " << shape_of(topology_of(probed->machine)) << " "
                                         << ::testing::PrintToString(probed->groups);
    for (std::uint32_t group = 0; group < 4; ++group)
      EXPECT_THAT(probed->groups[group], ElementsAre(group, group + 4, group + 8, group + 12)) << seed;
  }
}

TEST(Probe, NoiseInsideHostsIsNotALevel) {
  int wrong = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Made made = nested(1, 4, 4);
    made.costs = {{2, 60000}, {40, 300000}, {40, 300000}};
    made.noise = 0.3;
    for (const bool blind : {true, false}) {
      const auto probed = analyse_probe(make_table(made, seed), {.ignore_host_names = blind});
      ASSERT_TRUE(probed);
      wrong += shape_of(topology_of(probed->machine)) == "node 4, core 16" ? 0 : 1;
    }
  }
  EXPECT_LE(wrong, 4);  // of 200
}

TEST(Probe, NoiseIsNotAStructure) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    for (const int ranks : {2, 3, 4, 8, 16, 24}) {
      Made made = nested(1, 1, ranks);
      made.noise = 0.1;
      const auto probed = analyse_probe(make_table(made, seed), {.ignore_host_names = true});
      ASSERT_TRUE(probed);
      found += topology_of(probed->machine).levels().size() == 2 ? 0 : 1;
    }
  }
  EXPECT_LE(found, 18);  // of 360
}

TEST(Probe, HostsRemainALevelEvenIfTheyAreAsFastAsCores) {
  Made made = nested(1, 3, 4);
  made.costs = {{1, 500}, {1, 500}, {1, 500}};
  const auto probed = analyse_probe(make_table(made, 1), {});
  ASSERT_TRUE(probed);
  const Topology topology = topology_of(probed->machine);
  EXPECT_EQ(shape_of(topology), "node 3, core 12");
  EXPECT_EQ(nodes_of(topology), "h0 h1 h2");
}

TEST(Probe, DetectsPackagesInsideHosts) {
  Made made = nested(3, 2, 4);
  for (std::size_t rank = 0; rank < made.hosts.size(); ++rank)
    made.hosts[rank] = "h" + std::to_string(made.groups[1][rank]);
  made.costs = {{0.1, 300}, {0.25, 500}, {1, 2000}};
  const auto probed = analyse_probe(make_table(made, 1), {});
  ASSERT_TRUE(probed);
  EXPECT_EQ(shape_of(topology_of(probed->machine)), "node 3, group 6, core 24");
}

TEST(Probe, SampledRoundsAreEnoughIfHostsAreKnown) {
  Made made = nested(2, 4, 8);
  made.measured = 0.2;
  made.costs[2] = {3, 4000};
  const auto probed = analyse_probe(make_table(made, 1), {});
  ASSERT_TRUE(probed);
  EXPECT_EQ(probed->groups.size(), 8U);
  EXPECT_NEAR(topology_of(probed->machine).levels().back().cost->inverse_bandwidth, 0.27, 0.05);
}

TEST(Probe, PairsMeasuredAloneGiveTheCostsByDefault) {
  ProbeTable table = make_table(nested(1, 2, 2), 1);
  const std::size_t together = table.pairs.size();
  for (std::size_t i = 0; i < together; ++i) {
    ProbePair pair = table.pairs[i];
    pair.alone = true;
    for (auto& time : pair.times) time.nanoseconds /= 4;
    table.pairs.push_back(pair);
  }
  const auto alone = analyse_probe(table, {}), congested = analyse_probe(table, {.under_load = true});
  ASSERT_TRUE(alone && congested);
  EXPECT_NEAR(congested->levels[0].cost.inverse_bandwidth / alone->levels[0].cost.inverse_bandwidth, 4, 0.01);
  EXPECT_EQ(alone->levels[0].pairs_alone, alone->levels[0].pairs_together);
}

TEST(Probe, AKnownMachineGetsMeasuredCosts) {
  const auto known = Topology::build(*parse_topology_string("switch:2=9 node:2=8 package:2=7 core:2=6"));
  Made made;
  made.groups.resize(2);
  for (int rank = 0; rank < 16; ++rank) {
    made.hosts.push_back("node" + std::to_string(rank / 4));
    made.groups[0].push_back(rank / 4);
    made.groups[1].push_back(rank / 8);
  }
  made.costs = {{0.3, 500}, {1.0, 2000}, {2.0, 2500}};
  const auto probed = calibrate(*known, make_table(made, 1), {});
  ASSERT_TRUE(probed) << to_string(probed.error());
  const Topology topology = topology_of(probed->machine);
  EXPECT_EQ(shape_of(topology), "switch 2, node 4, package 8, core 16");
  const auto inverse_bandwidth = [&](std::size_t level) { return topology.levels()[level].cost->inverse_bandwidth; };
  EXPECT_NEAR(inverse_bandwidth(0), 2.0, 0.1);
  EXPECT_NEAR(inverse_bandwidth(1), 1.0, 0.1);
  EXPECT_EQ(inverse_bandwidth(2), inverse_bandwidth(3));  // packages and cores do not differ measurably
  EXPECT_NEAR(inverse_bandwidth(3), 0.3, 0.03);
  EXPECT_TRUE(probed->levels[2].merged && probed->levels[3].merged);
  made.hosts[3] = "stranger";
  EXPECT_FALSE(calibrate(*known, make_table(made, 1), {}));
}

TEST(ProbeTable, IsReadBack) {
  const auto read = [](const char* text) { return read_probe_table(FileContents("table", text)); };
  const auto table = read(
      "rankloom-probe 1\nrank 0 a 3\nrank 1 b -1\npair 0 1 together 8:500.0 65536:9000.5:8000\npair 0 1 alone "
      "8:400\nend\n");
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(table->ranks[0].cpu, 3);
  EXPECT_EQ(table->ranks[1].host, "b");
  EXPECT_TRUE(table->pairs[1].alone);
  EXPECT_EQ(table->pairs[0].times[1].nanoseconds, 9000.5);
  EXPECT_EQ(table->pairs[0].times[1].min_nanoseconds, 8000);
  EXPECT_EQ(table->pairs[0].times[0].min_nanoseconds, 500);
  for (const char* const text :
       {"", "hello\n", "rankloom-probe 2\nend\n", "rankloom-probe 1\nrank 0 a 1\nrank 1 a 2\npair 0 1 alone 8:1\n",
        "rankloom-probe 1\nrank 1 a 1\n", "rankloom-probe 1\nrank 0 a 1\nrank 1 b 1\npair 0 2 alone 8:1\nend\n",
        "rankloom-probe 1\nrank 0 a 1\nrank 1 b 1\npair 0 1 alone 8:x\nend\n", "rankloom-probe 1\nend\n"}) {
    EXPECT_FALSE(read(text)) << text;
  }
}

}  // namespace
}  // namespace rankloom
