// SPDX-License-Identifier: Apache-2.0
// Tests of place/online: phases, decisions, replay, and rank records that are read while they are written.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "rankloom/capture/record/reading/live_rank_record.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/map/run.hpp"
#include "rankloom/place/online/agent/process_control.hpp"
#include "rankloom/place/online/online_log.hpp"
#include "rankloom/place/online/online_replay.hpp"
#include "rankloom/place/online/restart_gain.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t ranks = 8;
constexpr double window_seconds = 0.1;

/// Every rank sends to the rank at this distance.
CommGraph shift_pattern(std::uint32_t distance, double bytes = 1e6) {
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    builder.add(Rank{rank}, Rank{(rank + distance) % ranks}, bytes, bytes / 1e3);
  return std::move(builder).build(true);
}

/// One letter per window: r(ing), q(uieter ring), p(airs), m(ixed), s(ilence), and two windows with few messages
/// because half of the ranks had no CPU time: half of the ring (h) or the other half (o).
std::vector<TrafficWindow> windows(const std::string& letters) {
  std::vector<TrafficWindow> list;
  for (std::size_t i = 0; i < letters.size(); ++i) {
    CommGraph traffic = CommGraphBuilder(ranks).build(true);
    if (letters[i] == 'r') traffic = shift_pattern(1);
    if (letters[i] == 'q') traffic = shift_pattern(1, 6e5);
    if (letters[i] == 'p') traffic = shift_pattern(ranks / 2);
    if (letters[i] == 'm') traffic = sum(shift_pattern(1, 5e5), shift_pattern(ranks / 2, 5e5));
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

PhaseDetector detect(const std::string& letters) {
  PhaseDetector detector;
  for (const TrafficWindow& window : windows(letters)) detector.add_window(window);
  return detector;
}

Topology two_packages() {
  return *load_topology("package:2=1GB/s,1us core:4=10GB/s,200ns");
}

std::vector<Core> block_order() {
  std::vector<Core> order;
  for (std::uint32_t i = 0; i < ranks; ++i) order.push_back(Core{i});
  return order;
}

/// For tests of other parts of a decision.
OnlineOptions without_loss_limit() {
  OnlineOptions options;
  options.max_loss = std::numeric_limits<double>::infinity();
  return options;
}

TEST(TrafficPattern, DistanceIsZeroForEqualFractionsAndOneWithoutACommonPair) {
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(shift_pattern(1)), TrafficPattern(shift_pattern(1, 7e3))), 0);
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(shift_pattern(1)), TrafficPattern(shift_pattern(4))), 1);
  EXPECT_NEAR(distance(TrafficPattern(shift_pattern(1)), TrafficPattern(sum(shift_pattern(1), shift_pattern(4)))), 0.5,
              1e-12);
}

TEST(PhaseDetector, DetectsAChangeWithinTwoWindows) {
  const auto detector = detect("rrrrrpppp");
  ASSERT_EQ(detector.phases().size(), 2U);
  EXPECT_DOUBLE_EQ(detector.phases()[1].begin, 5 * window_seconds);
  EXPECT_LE(detector.phases()[1].detected_after, 2U);
  EXPECT_EQ(detector.kinds(), 2U);
}

TEST(PhaseDetector, APhaseBeginsWithTheWindowThatContainsBothPatterns) {
  const auto detector = detect("rrrrmpppp");
  ASSERT_EQ(detector.phases().size(), 2U);
  EXPECT_NEAR(detector.phases()[1].begin, 4 * window_seconds, 1e-9);
  // The mixed window does not count for the traffic of either kind.
  EXPECT_DOUBLE_EQ(distance(TrafficPattern(detector.traffic(1)), TrafficPattern(shift_pattern(4))), 0);
}

TEST(PhaseDetector, IgnoresOneOutlierAndSilence) {
  EXPECT_EQ(detect("rrrprrrr").phases().size(), 1U);
  EXPECT_EQ(detect("rrsssrrr").phases().size(), 1U);
  // Traffic before a long silence does not belong to the phase that begins after it.
  const auto detector = detect("rrrrpssssssspppp");
  ASSERT_EQ(detector.phases().size(), 2U);
  EXPECT_DOUBLE_EQ(detector.phases()[1].begin, 12 * window_seconds);
  EXPECT_LE(detector.phases()[1].detected_after, 2U);
}

TEST(PhaseDetector, IgnoresAWindowWithFarFewerMessagesThanTheAverage) {
  // Each window has half of the ring. With the usual number of messages they would be two other patterns.
  EXPECT_EQ(detect("rrrrrhohorrr").phases().size(), 1U);
  EXPECT_EQ(detect("rrrrrhorhorhorrr").phases().size(), 1U);
  // A quieter window changes the average only a little.
  EXPECT_EQ(detect("rrrrrqhhrrr").phases().size(), 1U);
  // If the small number of messages lasts, it is a new kind.
  EXPECT_EQ(detect("rrrrrhhhhhhhh").kinds(), 2U);
}

TEST(PhaseDetector, AMixtureOfTwoKnownPhasesIsNotANewKind) {
  const auto detector = detect("rrrrppppmmrrrrmmmpppp");
  EXPECT_EQ(detector.kinds(), 2U);
  EXPECT_EQ(detector.phases().size(), 4U);
  // A mixture that lasts is a new kind.
  EXPECT_EQ(detect("rrrrppppmmmmmmmm").kinds(), 3U);
}

TEST(PhaseDetector, ANewKindNeedsTwoSimilarWindows) {
  PhaseDetector detector;
  for (std::uint32_t i = 0; i < 12; ++i) {
    // From time to time two consecutive outliers that differ from all other windows.
    const std::uint32_t distance = i % 6 < 4 ? 1 : i % 6 - 2;
    detector.add_window({0.1 * i, 0.1 * (i + 1), shift_pattern(distance)});
  }
  EXPECT_EQ(detector.kinds(), 1U);
}

TEST(PhaseDetector, WaitsForEnoughMessages) {
  // Each window has a few messages of a ring, alternately of one half of the ranks and of the other.
  PhaseDetector detector;
  for (int i = 0; i < 40; ++i) {
    CommGraphBuilder builder(ranks);
    for (std::uint32_t rank = 0; rank < 4; ++rank) {
      const std::uint32_t from = rank + (i % 2 == 0 ? 0 : 4);
      builder.add(Rank{from}, Rank{(from + 1) % ranks}, 4e3, 4);
    }
    detector.add_window({0.1 * i, 0.1 * (i + 1), std::move(builder).build(true)});
  }
  EXPECT_EQ(detector.phases().size(), 1U);
  EXPECT_EQ(detector.phases()[0].windows, 40U);
}

TEST(PhaseDetector, RecognisesARecurringPatternImmediately) {
  PhaseDetector detector;
  const auto list = windows("rrrrpppprrrr");
  for (std::size_t i = 0; i < 8; ++i) detector.add_window(list[i]);
  EXPECT_TRUE(detector.add_window(list[8]));
  EXPECT_EQ(detector.kinds(), 2U);
  EXPECT_EQ(detector.phases().back().kind, 0U);
  // The first phase of this kind lasted 0.4 s, and 0.1 s have passed.
  EXPECT_NEAR(detector.expected_remaining_seconds(), 0.3, 1e-9);
}

TEST(OnlinePlanner, MovesOncePerPhaseThatPaysAndNeverTwiceInAWindow) {
  OnlinePlanner planner(two_packages(), block_order(), without_loss_limit());
  std::size_t moves = 0;
  for (const TrafficWindow& window : windows("rrrrpppppppp")) {
    const auto decision = planner.add_window(window);
    if (decision && decision->moves) ++moves;
  }
  EXPECT_EQ(moves, 1U);  // block placement suits the ring but not the pairs
  for (std::uint32_t rank = 0; rank < ranks / 2; ++rank)
    EXPECT_EQ(planner.topology().divergence_level(planner.placement()[rank], planner.placement()[rank + 4]), 2U)
        << rank;
  EXPECT_LT(planner.cost_online(), planner.cost_without_migration());
}

TEST(OnlinePlanner, ADecisionNamesTheWindowThatLedToIt) {
  OnlinePlanner planner(two_packages(), block_order(), without_loss_limit());
  const auto list = windows("rrrrpppppppp");
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto decision = planner.add_window(list[i]);
    if (!decision) continue;
    EXPECT_EQ(decision->window, i);
    EXPECT_EQ(decision->time, list[i].end);
  }
}

TEST(OnlinePlanner, AccountsForTheCostOfTheNextPhaseUntilItIsDetected) {
  // Long phases with little traffic, in which a move gains little, and short phases with much traffic that suit the
  // initial placement.
  std::vector<TrafficWindow> list;
  for (int i = 0; i < 60; ++i) {
    const bool heavy = i % 10 >= 8;
    list.push_back({0.1 * i, 0.1 * (i + 1), heavy ? shift_pattern(1, 1e8) : shift_pattern(ranks / 2, 1e6)});
  }
  OnlinePlanner planner(two_packages(), block_order(), without_loss_limit());
  std::uint32_t moves_after_first = 0;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto decision = planner.add_window(list[i]);
    if (i >= 12 && decision && decision->moves && !decision->returns_to_start && decision->kind == 0)
      ++moves_after_first;
  }
  EXPECT_EQ(moves_after_first, 0U);
}

/// A ring of ranks with these loads.
CommGraph ring_with_loads(const std::vector<double>& loads) {
  auto rows = shift_pattern(1, 1e3).release();
  rows.loads = loads;
  return CommGraph(std::move(rows));
}

TEST(OnlinePlanner, FollowsSteadyLoadsAndNotRandomLoads) {
  const Topology topology = *load_topology("core:2=10GB/s,200ns");
  const std::vector<Core> start{Core{0}, Core{0}, Core{0}, Core{0}, Core{1}, Core{1}, Core{1}, Core{1}};
  OnlinePlanner steady(topology, start, without_loss_limit()), fluctuating(topology, start, without_loss_limit());
  Random random(1);
  for (int i = 0; i < 60; ++i) {
    std::vector<double> random_loads(ranks);
    for (double& load : random_loads) load = 0.05 * random.unit();
    steady.add_window(
        {0.1 * i, 0.1 * (i + 1), ring_with_loads({0.09, 0.09, 0.002, 0.002, 0.002, 0.002, 0.002, 0.002})});
    fluctuating.add_window({0.1 * i, 0.1 * (i + 1), ring_with_loads(random_loads)});
  }
  EXPECT_EQ(steady.migrations(), 1U);
  EXPECT_NE(steady.placement()[0], steady.placement()[1]);
  EXPECT_LT(steady.cost_online(), 0.7 * steady.cost_without_migration());
  EXPECT_LE(fluctuating.cost_online(), 1.02 * fluctuating.cost_without_migration());
}

TEST(CostHistory, StoresALongRunInALimitedNumberOfPoints) {
  CostHistory history;
  for (int i = 0; i < 100'000; ++i) history.add({0.1 * (i + 1), 2, 1});
  EXPECT_LE(history.points().size(), 2048U);
  double stayed = 0, online = 0;
  for (const auto& point : history.points()) {
    stayed += point.cost_without_migration;
    online += point.online;
  }
  EXPECT_DOUBLE_EQ(stayed, 200'000);
  EXPECT_DOUBLE_EQ(online, 100'000);
  EXPECT_NEAR(history.points().back().end, 10'000, 1e-6);
}

TEST(OnlinePlanner, StaysIfMovesCostMoreThanTheyGain) {
  OnlineOptions expensive = without_loss_limit();
  expensive.move_seconds = 10;
  OnlinePlanner planner(two_packages(), block_order(), expensive);
  for (const TrafficWindow& window : windows("rrrrpppppppp")) planner.add_window(window);
  EXPECT_EQ(planner.migrations(), 0U);
  EXPECT_TRUE(std::ranges::equal(planner.placement(), block_order()));
  EXPECT_DOUBLE_EQ(planner.cost_online(), planner.cost_without_migration());
  ASSERT_FALSE(planner.decisions().empty());
}

TEST(OnlinePlanner, ReachesTheCostOfTheOfflineMappersForTheSameTraffic) {
  const Topology topology = two_packages();
  const CommGraph traffic = shift_pattern(4);
  const auto slots = *Capacities::of(topology, ranks, {.oversubscribe = true});
  auto eager = run_mapper(*make_mapper("eager"), {traffic, topology, slots, CostModel::time, {}}, MapRun{}, {});
  auto refined = run_mapper(*make_mapper("refine"), {traffic, topology, slots, CostModel::time, eager->mapping.cores()},
                            MapRun{}, {});
  const auto fast = fast_mapping(traffic, topology, block_order());
  EXPECT_DOUBLE_EQ(evaluate(traffic, topology, *fast, CostModel::time), refined->cost);
}

TEST(OnlinePlanner, GivesABusyRankACoreOfItsOwnIfCoresAreShared) {
  const Topology topology = *load_topology("core:2=10GB/s,200ns");
  auto rows = shift_pattern(1, 1e3).release();
  rows.loads.assign(ranks, 0.001);
  rows.loads[0] = 0.09;
  const CommGraph traffic(std::move(rows));
  const auto fast = *fast_mapping(traffic, topology, {});
  EXPECT_EQ(std::ranges::count(fast, fast[0]), 1);
}

TEST(OnlineReplay, OnlineBeatsEveryStaticMappingForAlternatingPhasesButNotTheOracle) {
  std::string letters;
  for (int i = 0; i < 6; ++i) letters += "rrrrrrrrrrpppppppppp";
  const auto table = replay_online(windows(letters), two_packages(), without_loss_limit(), Progress::none());
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(table->phases.size(), 12U);
  const auto row = [&](std::string_view name) {
    return std::ranges::find_if(table->rows, [&](const OnlineReplayRow& candidate) { return candidate.name == name; })
        ->cost;
  };
  for (const OnlineReplayRow& mapping : table->rows) {
    if (mapping.name == "online" || mapping.name == "oracle") continue;
    EXPECT_LT(row("online"), mapping.cost) << mapping.name;
  }
  EXPECT_GE(row("online"), row("oracle"));
}

TEST(OnlineReplay, RejectsMoreThanOneNodeAndProfilesWithoutWindows) {
  EXPECT_FALSE(replay_online(windows("rr"), *load_topology("node:2=10 core:4=1"), {}, Progress::none()));
  EXPECT_FALSE(windows_from_profile(Profile{}, CollectiveModel::tree));
}

TEST(OnlineReplay, RanksMayShareCores) {
  const auto table = replay_online(windows("rrrr"), *load_topology("core:2=10GB/s,200ns"), {}, Progress::none());
  ASSERT_TRUE(table) << to_string(table.error());
  EXPECT_EQ(table->windows, 4U);
}

TEST(OnlineLog, PhasesHaveShortNames) {
  EXPECT_EQ(phase_kind_name(0), "A");
  EXPECT_EQ(phase_kind_name(25), "Z");
  EXPECT_EQ(phase_kind_name(26), "A1");
  EXPECT_EQ(phase_kind_name(53), "B2");
}

TEST(OnlineLog, HasTheCostOfEveryWindowWithAndWithoutMoves) {
  OnlinePlanner planner(two_packages(), block_order(), without_loss_limit());
  for (const TrafficWindow& window : windows("rrrrpppppppp")) planner.add_window(window);
  const auto json = to_json(OnlineLog{}, planner);
  const auto sum_of = [](const nlohmann::ordered_json& list) {
    double sum = 0;
    for (const auto& value : list) sum += value.get<double>();
    return sum;
  };
  EXPECT_EQ(json["cost"]["time"].size(), 12U);
  EXPECT_NEAR(sum_of(json["cost"]["stayed"]), planner.cost_without_migration(), 1e-12);
  EXPECT_NEAR(sum_of(json["cost"]["online"]), planner.cost_online(), 1e-12);
}

TEST(RestartGain, IsTheTrafficBetweenNodesThatAMappingAvoids) {
  // Each rank sends to the rank at half the distance, so all traffic of the block placement crosses the nodes.
  const MachineSpec machine = *parse_topology_string("core:4=10GB/s,200ns");
  const auto gain = restart_gain(
      shift_pattern(4), {{"a", machine, {0, 1, 2, 3}, {0, 1, 2, 3}}, {"b", machine, {4, 5, 6, 7}, {0, 1, 2, 3}}});
  ASSERT_TRUE(gain) << to_string(gain.error());
  EXPECT_DOUBLE_EQ(gain->bytes_start, 8e6);
  EXPECT_DOUBLE_EQ(gain->bytes_mapped, 0);
  // Eight times 1 MB in 1,000 messages inside a node, 0.1 ns per byte and 200 ns per message.
  EXPECT_DOUBLE_EQ(gain->cost_mapped, 8 * (1e6 * 0.1e-9 + 1e3 * 200e-9));
  EXPECT_LT(gain->cost_mapped, gain->cost_start);
}

TEST(LiveRankRecord, DifferencesOfCountersAreNeverNegative) {
  LiveTotals before, latest;
  before.pairs = {{1, 100, 10}, {2, 50, 5}};
  latest.pairs = {{1, 130, 13}, {2, 40, 4}, {3, 7, 1}};
  const LiveTotals change = difference(before, latest);
  ASSERT_EQ(change.pairs.size(), 2U);
  EXPECT_EQ(change.pairs[0].bytes, 30U);
  EXPECT_EQ(change.pairs[1].bytes, 7U);
  EXPECT_EQ(latest.pairs[1].bytes, 50U);
}

TEST(ProcessControl, ReportsWhetherAProcessRunsAndWhereItMayRun) {
  const auto self = static_cast<std::uint32_t>(::getpid());
  EXPECT_TRUE(process_control::is_alive(self));
  EXPECT_TRUE(process_control::cpu_seconds(self).has_value());
  EXPECT_FALSE(process_control::allowed_cpus(self).empty());
  EXPECT_FALSE(process_control::is_alive(0x7fffffff));
  EXPECT_FALSE(process_control::bind_process(0x7fffffff, 0));
}

}  // namespace
}  // namespace rankloom
