// SPDX-License-Identifier: Apache-2.0
// Tests of place/online: phases, decisions, replay, and images that are read while they are written.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include <gtest/gtest.h>
#include <unistd.h>

#include "rankloom/capture/record/live_image.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/place/online/host.hpp"
#include "rankloom/place/online/replay.hpp"
#include "rankloom/place/online/restart.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t ranks = 8;
constexpr double window_seconds = 0.1;

/// To the neighbour (1) or to the rank at half the distance.
CommGraph shifted(std::uint32_t distance, double bytes = 1e6) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    builder.add(Rank{rank}, Rank{(rank + distance) % ranks}, bytes, bytes / 1e3);
  return std::move(builder).build(true);
}

/// A letter for each window: r(ing), p(airs), m(ixed), s(ilence), and two that were starved: a few messages between the
/// ranks (h) that were let run, or (o) between others.
std::vector<OnlineWindow> windows(const std::string& letters) {
  std::vector<OnlineWindow> list;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    CommGraph traffic = CommGraphBuilder(ranks).build(true);
    if (letters[i] == 'r') traffic = shifted(1);
    if (letters[i] == 'p') traffic = shifted(ranks / 2);
    if (letters[i] == 'm') traffic = sum(shifted(1, 5e5), shifted(ranks / 2, 5e5));
    if (letters[i] == 'h' || letters[i] == 'o') {
      CommGraphBuilder few(ranks);
      for (std::uint32_t rank = letters[i] == 'h' ? 0 : 1; rank < ranks; rank += 2)
        few.add(Rank{rank}, Rank{(rank + 1) % ranks}, 5e4, 50);
      traffic = std::move(few).build(true);
    }
    const double begin = window_seconds * static_cast<double>(i);
    list.push_back({begin, begin + window_seconds, std::move(traffic)});
  }
  return list;
}

PhaseFinder found(const std::string& letters) {
  PhaseFinder finder;
  for (const OnlineWindow& window : windows(letters)) finder.take(window);
  return finder;
}

Topology two_packages() {
  return *load_topology("package:2=1GB/s,1us core:4=10GB/s,200ns");
}

std::vector<Core> in_order() {
  std::vector<Core> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Core{i});
  return order;
}

TEST(TrafficPattern, DistanceIsNothingForTheSameSharesAndOneForNoCommonPair) {
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(shifted(1)), TrafficPattern(shifted(1, 7e3))), 0);
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(shifted(1)), TrafficPattern(shifted(4))), 1);
  EXPECT_NEAR(distance(TrafficPattern(shifted(1)), TrafficPattern(sum(shifted(1), shifted(4)))), 0.5, 1e-12);
}

TEST(PhaseFinder, FindsAChangeWithinTwoWindows) {
  const auto finder = found("rrrrrpppp");
  ASSERT_EQ(finder.phases().size(), 2U);
  EXPECT_DOUBLE_EQ(finder.phases()[1].begin, 5 * window_seconds);
  EXPECT_LE(finder.phases()[1].found_after, 2U);
  EXPECT_EQ(finder.kinds(), 2U);
}

TEST(PhaseFinder, DatesAChangeFromTheWindowThatHoldsBothPatterns) {
  const auto finder = found("rrrrmpppp");
  ASSERT_EQ(finder.phases().size(), 2U);
  EXPECT_NEAR(finder.phases()[1].begin, 4 * window_seconds, 1e-9);
  // The mixed window is in no kind's traffic.
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(finder.traffic(1)), TrafficPattern(shifted(4))), 0);
}

TEST(PhaseFinder, IsNotMisledByOneStrayWindowOrBySilence) {
  EXPECT_EQ(found("rrrprrrr").phases().size(), 1U);
  EXPECT_EQ(found("rrsssrrr").phases().size(), 1U);
  // What was said before a long silence is no part of what begins after it.
  const auto finder = found("rrrrpssssssspppp");
  ASSERT_EQ(finder.phases().size(), 2U);
  EXPECT_DOUBLE_EQ(finder.phases()[1].begin, 12 * window_seconds);
  EXPECT_LE(finder.phases()[1].found_after, 2U);
}

TEST(PhaseFinder, AWindowWithFarFewerMessagesThanUsualIsNoEvidence) {
  // Half of the ring each, together a ring: with as many messages as usual they would be two other patterns.
  EXPECT_EQ(found("rrrrrhohorrr").phases().size(), 1U);
  EXPECT_EQ(found("rrrrrhorhorhorrr").phases().size(), 1U);
  // A program that talks less from now on is believed.
  EXPECT_EQ(found("rrrrrhhhhhhhh").kinds(), 2U);
}

TEST(PhaseFinder, TheWayFromOneKnownPhaseToTheOtherIsNoNewKind) {
  const auto finder = found("rrrrppppmmrrrrmmmpppp");
  EXPECT_EQ(finder.kinds(), 2U);
  EXPECT_EQ(finder.phases().size(), 4U);
  // What lasts is no way from here to there.
  EXPECT_EQ(found("rrrrppppmmmmmmmm").kinds(), 3U);
}

TEST(PhaseFinder, ANewKindNeedsTwoWindowsThatAreAlike) {
  PhaseFinder finder;
  for (std::uint32_t i = 0; i < 12; ++i) {
    // Now and then two strays in a row, each unlike all others.
    const std::uint32_t far = i % 6 < 4 ? 1 : i % 6 - 2;
    finder.take({0.1 * i, 0.1 * (i + 1), shifted(far)});
  }
  EXPECT_EQ(finder.kinds(), 1U);
}

TEST(PhaseFinder, WaitsForEnoughMessages) {
  // A few messages of a ring in each window, now of these ranks, now of those.
  PhaseFinder finder;
  for (int i = 0; i < 40; ++i) {
    CommGraphBuilder builder(ranks);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const std::uint32_t from = rank + (i % 2 == 0 ? 0 : 4);
      builder.add(Rank{from}, Rank{(from + 1) % ranks}, 4e3, 4);
    }
    finder.take({0.1 * i, 0.1 * (i + 1), std::move(builder).build(true)});
  }
  EXPECT_EQ(finder.phases().size(), 1U);
  EXPECT_EQ(finder.phases()[0].windows, 40U);
}

TEST(PhaseFinder, RecognisesAPatternThatComesBackAtOnce) {
  PhaseFinder finder;
  const auto list = windows("rrrrpppprrrr");
  for (std::size_t i = 0; i < 8; ++i) finder.take(list[i]);
  EXPECT_TRUE(finder.take(list[8]));
  EXPECT_EQ(finder.kinds(), 2U);
  EXPECT_EQ(finder.phases().back().kind, 0U);
  // The first lasted 0.4 s, of which 0.1 s have passed.
  EXPECT_NEAR(finder.expected_rest(), 0.3, 1e-9);
}

TEST(OnlinePlanner, MovesOnceForAPhaseThatPaysAndNeverTwiceInAWindow) {
  OnlinePlanner planner(two_packages(), in_order(), {});
  std::size_t moves = 0;
  for (const OnlineWindow& window : windows("rrrrpppppppp")) {
    const auto decision = planner.take(window);
    if (decision && decision->moves) ++moves;
  }
  EXPECT_EQ(moves, 1U);  // the ring is well placed in order; the pairs are not
  for (std::uint32_t rank = 0; rank < ranks / 2; ++rank)
    EXPECT_EQ(planner.topology().parting_level(planner.now()[rank], planner.now()[rank + 4]), 2U) << rank;
  EXPECT_LT(planner.cost_online(), planner.cost_stayed());
}

TEST(OnlinePlanner, CountsWhatTheNextPhaseCostsUntilItIsFound) {
  // Long calm phases in which a move gains little, and short heavy ones for which the start is right.
  std::vector<OnlineWindow> list;
  for (int i = 0; i < 60; ++i) {
    const bool heavy = i % 10 >= 8;
    list.push_back({0.1 * i, 0.1 * (i + 1), heavy ? shifted(1, 1e8) : shifted(ranks / 2, 1e6)});
  }
  OnlinePlanner planner(two_packages(), in_order(), {});
  std::uint32_t after_the_first = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto decision = planner.take(list[i]);
    if (i >= 12 && decision && decision->moves && !decision->back && decision->kind == 0) ++after_the_first;
  }
  EXPECT_EQ(after_the_first, 0U);
}

/// Eight ranks on two cores; how much each works.
CommGraph working(const std::vector<double>& loads) {
  auto rows = shifted(1, 1e3).release();
  rows.loads = loads;
  return CommGraph(std::move(rows));
}

TEST(OnlinePlanner, FollowsWorkThatStaysAndNotWorkThatIsChance) {
  const Topology topology = *load_topology("core:2=10GB/s,200ns");
  const std::vector<Core> start{Core{0}, Core{0}, Core{0}, Core{0}, Core{1}, Core{1}, Core{1}, Core{1}};
  OnlinePlanner steady(topology, start, {}), chance(topology, start, {});
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    std::vector<double> drawn(ranks);
    for (double& load : drawn) load = 0.05 * random.unit();
    steady.take({0.1 * i, 0.1 * (i + 1), working({0.09, 0.09, 0.002, 0.002, 0.002, 0.002, 0.002, 0.002})});
    chance.take({0.1 * i, 0.1 * (i + 1), working(drawn)});
  }
  EXPECT_EQ(steady.bursts(), 1U);
  EXPECT_NE(steady.now()[0], steady.now()[1]);
  EXPECT_LT(steady.cost_online(), 0.7 * steady.cost_stayed());
  EXPECT_LE(chance.cost_online(), 1.02 * chance.cost_stayed());
}

TEST(CostHistory, HoldsAllOfALongRunInFewPoints) {
  CostHistory history;
  for (int i = 0; i < 100'000; ++i) history.add({0.1 * (i + 1), 2, 1});
  EXPECT_LE(history.points().size(), 2048U);
  double stayed = 0, online = 0;
  for (const auto& point : history.points()) {
    stayed += point.stayed;
    online += point.online;
  }
  EXPECT_DOUBLE_EQ(stayed, 200'000);
  EXPECT_DOUBLE_EQ(online, 100'000);
  EXPECT_NEAR(history.points().back().end, 10'000, 1e-6);
}

TEST(OnlinePlanner, StaysWhereMovesCostMoreThanThePhaseIsWorth) {
  OnlineOptions dear;
  dear.move_seconds = 10;
  OnlinePlanner planner(two_packages(), in_order(), dear);
  for (const OnlineWindow& window : windows("rrrrpppppppp")) planner.take(window);
  EXPECT_EQ(planner.bursts(), 0U);
  EXPECT_TRUE(std::ranges::equal(planner.now(), in_order()));
  EXPECT_DOUBLE_EQ(planner.cost_online(), planner.cost_stayed());
  ASSERT_FALSE(planner.decisions().empty());
}

TEST(OnlinePlanner, DecidesAsTheOfflineMappersDoForTheSameTraffic) {
  const Topology topology = two_packages();
  const CommGraph traffic = shifted(4);
  const auto slots = *Capacities::of(topology, ranks, {.oversubscribe = true});
  auto eager = run_mapper(*make_mapper("eager"), {traffic, topology, slots, CostModel::time, {}}, MapRun{}, {});
  auto refined = run_mapper(*make_mapper("refine"), {traffic, topology, slots, CostModel::time, eager->mapping.cores()},
                            MapRun{}, {});
  const auto fast = fast_mapping(traffic, topology, in_order());
  EXPECT_DOUBLE_EQ(evaluate(traffic, topology, *fast, CostModel::time), refined->cost);
}

TEST(OnlinePlanner, GivesABusyRankACoreOfItsOwnWhereCoresAreShared) {
  const Topology topology = *load_topology("core:2=10GB/s,200ns");
  auto rows = shifted(1, 1e3).release();
  rows.loads.assign(ranks, 0.001);
  rows.loads[0] = 0.09;
  const CommGraph traffic(std::move(rows));
  const auto fast = *fast_mapping(traffic, topology, {});
  EXPECT_EQ(std::ranges::count(fast, fast[0]), 1);
}

TEST(Replay, OnlineBeatsEveryStaticMappingOfAlternatingPhasesAndNotTheOracle) {
  std::string letters;
  for (int i = 0; i < 6; ++i) letters += "rrrrrrrrrrpppppppppp";
  const auto table = replay_online(windows(letters), two_packages(), {}, Progress::none());
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(table->phases.size(), 12U);
  const auto row = [&](std::string_view name) {
    return std::ranges::find_if(table->rows, [&](const ReplayRow& one) { return one.name == name; })->cost;
  };
  for (const ReplayRow& one : table->rows) {
    if (one.name == "online" || one.name == "oracle") continue;
    EXPECT_LT(row("online"), one.cost) << one.name;
  }
  EXPECT_GE(row("online"), row("oracle"));
}

TEST(Replay, RefusesMoreThanOneNodeAndProfilesWithoutWindows) {
  EXPECT_FALSE(replay_online(windows("rr"), *load_topology("node:2=10 core:4=1"), {}, Progress::none()));
  EXPECT_FALSE(windows_of(Profile{}, CollectiveModel::tree));
}

TEST(Restart, SaysWhatOtherNodesWouldSave) {
  // Pairs at half the distance, on two nodes in order: everything crosses.
  const MachineSpec machine = *parse_topology_string("core:4=10GB/s,200ns");
  const auto gain = restart_gain(
      shifted(4), {{"a", machine, {0, 1, 2, 3}, {0, 1, 2, 3}}, {"b", machine, {4, 5, 6, 7}, {0, 1, 2, 3}}});
  ASSERT_TRUE(gain) << to_string(gain.error());
  EXPECT_DOUBLE_EQ(gain->bytes_start, 8e6);
  EXPECT_DOUBLE_EQ(gain->bytes_mapped, 0);
  EXPECT_LT(gain->cost_mapped, gain->cost_start);
}

TEST(LiveImage, DifferencesOfCountersNeverGoBack) {
  LiveTotals before, latest;
  before.pairs = {{1, 100, 10}, {2, 50, 5}};
  latest.pairs = {{1, 130, 13}, {2, 40, 4}, {3, 7, 1}};
  const LiveTotals change = difference(before, latest);
  ASSERT_EQ(change.pairs.size(), 2U);
  EXPECT_EQ(change.pairs[0].bytes, 30U);
  EXPECT_EQ(change.pairs[1].bytes, 7U);
  EXPECT_EQ(latest.pairs[1].bytes, 50U);
}

TEST(Host, KnowsWhoLivesAndWhereItMayRun) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_TRUE(host::is_alive(self));
  EXPECT_TRUE(host::cpu_seconds(self).has_value());
  EXPECT_FALSE(host::allowed_cpus(self).empty());
  EXPECT_FALSE(host::is_alive(0x7fffffff));
  EXPECT_FALSE(host::move_to(0x7fffffff, 0));
  EXPECT_EQ(host::parse_cpu_list("0-3,8"), (std::vector<std::uint32_t>{0, 1, 2, 3, 8}));
}

}  // namespace
}  // namespace rankloom
