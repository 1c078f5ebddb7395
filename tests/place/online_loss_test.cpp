// SPDX-License-Identifier: Apache-2.0
// Tests of place/online: by the model, a run with moves costs at most 2 % more than the same run without moves, at the
// end of every window, whatever the program does.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/place/online/online_replay.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t ranks = 8;
constexpr double window_seconds = 0.1;
constexpr double max_loss = 1.02;
/// No rank communicates for longer than a window lasts.
constexpr double max_window_cost = ranks * window_seconds;

Topology node() {
  return *load_topology("package:2=1GB/s,1us core:4=10GB/s,200ns");
}

std::vector<Core> block_order(std::uint32_t count = ranks) {
  std::vector<Core> order;
  for (std::uint32_t i = 0; i < count; ++i) order.push_back(Core{i});
  return order;
}

CommGraph scaled(const CommGraph& graph, double factor) {
  CommGraphBuilder builder(graph.rank_count());
  for (const Rank from : graph.ranks()) {
    for (std::size_t i = 0; i < graph.degree(from); ++i)
      builder.add(from, graph.targets(from)[i], factor * graph.bytes(from)[i], factor * graph.messages(from)[i]);
  }
  return std::move(builder).build(true);
}

/// The traffic of pairs of ranks, of this cost in this placement.
CommGraph traffic_of_cost(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& pairs, const Topology& topology,
                          std::span<const Core> placement, double cost) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to] : pairs) builder.add(Rank{from}, Rank{to}, 1e6, 1e3);
  const CommGraph graph = std::move(builder).build(true);
  const double now = online_cost(graph, topology, placement);
  return now > 0 ? scaled(graph, cost / now) : graph;
}

/// All ranks send to the rank at this distance.
std::vector<std::pair<std::uint32_t, std::uint32_t>> shift(std::uint32_t distance) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) pairs.emplace_back(rank, (rank + distance) % ranks);
  return pairs;
}

/// Chooses the traffic of the next window when it knows the current placement.
using Program = std::function<CommGraph(const OnlinePlanner&, std::size_t window)>;

/// The planner after this many windows of a program. The bound holds after every window.
OnlinePlanner run(const Program& program, std::size_t windows, OnlineOptions options = {}) {
  OnlinePlanner planner(node(), block_order(), options);
  for (std::size_t i = 0; i < windows; ++i) {
    const double begin = window_seconds * static_cast<double>(i);
    planner.add_window({begin, begin + window_seconds, program(planner, i)});
    EXPECT_LE(planner.cost_online(), max_loss * planner.cost_without_migration() + 1e-9) << "window " << i;
    if (planner.cost_online() > max_loss * planner.cost_without_migration() + 1e-9) break;
  }
  return planner;
}

TEST(MaxCostRatio, IsThatOfThePairWithTheLargestIncrease) {
  std::vector<Core> swapped = block_order();
  EXPECT_DOUBLE_EQ(max_cost_ratio(node(), block_order(), swapped), 1);
  std::swap(swapped[0], swapped[1]);
  EXPECT_DOUBLE_EQ(max_cost_ratio(node(), block_order(), swapped), 1);
  std::swap(swapped[0], swapped[4]);
  EXPECT_DOUBLE_EQ(max_cost_ratio(node(), block_order(), swapped), 10);  // 1 GB/s instead of 10 GB/s
  const std::vector<Core> together(ranks, Core{0});
  EXPECT_TRUE(std::isinf(max_cost_ratio(node(), together, block_order())));
}

TEST(OnlineLoss, AProgramWithOnePatternIsMappedAsSoonAsTheBudgetCoversAWindow) {
  const auto planner = run(
      [](const OnlinePlanner& now, std::size_t) {
        return traffic_of_cost(shift(ranks / 2), now.topology(), now.start(), 0.5 * max_window_cost);
      },
      400);
  EXPECT_EQ(planner.migrations(), 1U);
  EXPECT_LT(planner.cost_online(), 0.5 * planner.cost_without_migration());
}

TEST(OnlineLoss, WithoutEnoughCommunicationNoRankIsMoved) {
  const auto planner = run(
      [](const OnlinePlanner& now, std::size_t) {
        return traffic_of_cost(shift(ranks / 2), now.topology(), now.start(), 0.01 * max_window_cost);
      },
      400);
  EXPECT_EQ(planner.migrations(), 0U);
  ASSERT_FALSE(planner.decisions().empty());
  EXPECT_NE(planner.decisions().back().reason.find("the move may lose"), std::string::npos)
      << planner.decisions().back().reason;
}

/// Sends, with as much traffic as fits into a window, between those ranks that the moves have separated.
CommGraph worst_traffic(const OnlinePlanner& now) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> worst;
  double max_ratio = 0;
  for (std::uint32_t i = 0; i < ranks; ++i) {
    for (std::uint32_t j = 0; j < ranks; ++j) {
      if (i == j) continue;
      const double ratio = now.topology().cost(now.placement()[i], now.placement()[j]).inverse_bandwidth /
                           now.topology().cost(now.start()[i], now.start()[j]).inverse_bandwidth;
      if (ratio < max_ratio) continue;
      if (ratio > max_ratio) worst.clear();
      max_ratio = ratio;
      worst.emplace_back(i, j);
    }
  }
  return traffic_of_cost(worst, now.topology(), now.placement(), max_window_cost);
}

TEST(OnlineLoss, AProgramThatInvertsItsPatternAfterEachMoveLosesAtMostTheBudget) {
  const auto planner = run(
      [](const OnlinePlanner& now, std::size_t) {
        if (std::ranges::equal(now.placement(), now.start()))
          return traffic_of_cost(shift(ranks / 2), now.topology(), now.start(), 0.7 * max_window_cost);
        return worst_traffic(now);
      },
      3000);
  EXPECT_GE(planner.migrations(), 2U);  // there and back
  std::size_t returns = 0;
  for (const OnlineDecision& decision : planner.decisions()) {
    if (!decision.returns_to_start) continue;
    ++returns;
    EXPECT_DOUBLE_EQ(decision.move_cost, OnlineOptions{}.move_seconds * decision.moved);
  }
  EXPECT_GE(returns, 1U);
}

TEST(OnlineLoss, AProgramThatLetsMovesGainBeforeItInvertsItsPatternLosesAtMostTheBudget) {
  for (const std::size_t patience : {1, 2, 5, 20, 100}) {
    std::size_t windows_since_move = 0;
    std::uint32_t moves = 0;
    run(
        [&](const OnlinePlanner& now, std::size_t) {
          windows_since_move = now.migrations() == moves ? windows_since_move + 1 : 0;
          moves = now.migrations();
          const bool at_start = std::ranges::equal(now.placement(), now.start());
          if (!at_start && windows_since_move >= patience) return worst_traffic(now);
          return traffic_of_cost(shift(ranks / 2), now.topology(), now.start(), 0.6 * max_window_cost);
        },
        1500);
  }
}

TEST(OnlineLoss, AfterALossAMoveMustPromiseMore) {
  const auto planner = run(
      [](const OnlinePlanner& now, std::size_t) {
        if (std::ranges::equal(now.placement(), now.start()))
          return traffic_of_cost(shift(ranks / 2), now.topology(), now.start(), 0.7 * max_window_cost);
        return worst_traffic(now);
      },
      3000);
  std::vector<double> min_gains;
  for (const OnlineDecision& decision : planner.decisions()) {
    if (decision.moves && !decision.returns_to_start) min_gains.push_back(decision.min_gain);
  }
  ASSERT_GE(min_gains.size(), 2U);
  EXPECT_GT(min_gains[1], 2 * min_gains[0]);
}

TEST(OnlineLoss, RandomProgramsLoseAtMostTheBudget) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const double change = random.unit() * random.unit(), burst = 0.2 * random.unit();
    auto pattern = shift(1);
    run(
        [&](const OnlinePlanner& now, std::size_t) {
          if (random.unit() < change) {
            if (random.unit() < 0.5) {
              pattern = shift(1 + static_cast<std::uint32_t>(random.below(ranks - 1)));
            } else {
              pattern.clear();
              for (std::uint64_t i = 0; i < 1 + random.below(20); ++i) {
                const auto from = static_cast<std::uint32_t>(random.below(ranks));
                pattern.emplace_back(from, (from + 1 + static_cast<std::uint32_t>(random.below(ranks - 1))) % ranks);
              }
            }
          }
          // Most windows communicate little, and a few for their complete time, as in HPCC.
          const double part = random.unit() < burst ? 1 : 0.3 * random.unit();
          return traffic_of_cost(pattern, now.topology(), now.placement(), part * max_window_cost);
        },
        300);
  }
}

TEST(OnlineLoss, RecordedProgramsLoseAtMostTheBudget) {
  for (const char* const name : {"hpcc-8.prof", "two-phases-8.prof"}) {
    auto imported = import_path(std::string(RANKLOOM_RECORDED_WINDOWS) + "/" + name);
    ASSERT_TRUE(imported) << to_string(imported.error());
    const auto recorded = windows_from_profile(imported->profile, CollectiveModel::tree);
    ASSERT_TRUE(recorded);
    // Also with more traffic per window, so that moves pay and fit into the budget, and repeated.
    for (const double factor : {1.0, 5.0, 20.0}) {
      OnlinePlanner planner(node(), block_order(), {});
      for (int repetition = 0; repetition < 5; ++repetition) {
        for (const TrafficWindow& window : *recorded) {
          const double begin = repetition * recorded->back().end;
          planner.add_window({begin + window.begin, begin + window.end, scaled(window.traffic, factor)});
          ASSERT_LE(planner.cost_online(), max_loss * planner.cost_without_migration() + 1e-9)
              << name << " x " << factor << ", window " << planner.windows();
        }
      }
      std::printf("%s x %g: %u migrations, %+.1f %%\n", name, factor, planner.migrations(),
                  100 * (planner.cost_online() / planner.cost_without_migration() - 1));
    }
  }
}

TEST(OnlineLoss, RanksThatShareCoresLoseAtMostTheBudget) {
  const Topology topology = *load_topology("core:2=10GB/s,200ns");
  const std::vector<Core> start{Core{0}, Core{0}, Core{0}, Core{0}, Core{1}, Core{1}, Core{1}, Core{1}};
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed);
    OnlinePlanner planner(topology, start, {});
    std::vector<double> loads(ranks);
    for (int i = 0; i < 400; ++i) {
      if (i % 50 == 0) {
        for (double& load : loads) load = random.unit();
      }
      // No core computes for longer than the window.
      std::vector<double> core(2);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) core[index(planner.placement()[rank])] += loads[rank];
      CommGraphBuilder builder(ranks);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.add(Rank{rank}, Rank{(rank + 1) % ranks}, 1e3, 20);
      auto rows = std::move(builder).build(true).release();
      for (const double load : loads) rows.loads.push_back(load * window_seconds / std::max(core[0], core[1]));
      planner.add_window({window_seconds * i, window_seconds * (i + 1), CommGraph(std::move(rows))});
      ASSERT_LE(planner.cost_online(), max_loss * planner.cost_without_migration() + 1e-9) << seed << " " << i;
    }
  }
}

TEST(OnlineLoss, WithoutALimitAMoveComesEarlier) {
  OnlineOptions unlimited;
  unlimited.max_loss = std::numeric_limits<double>::infinity();
  OnlinePlanner planner(node(), block_order(), unlimited);
  for (int i = 0; i < 10; ++i) {
    planner.add_window({window_seconds * i, window_seconds * (i + 1),
                        traffic_of_cost(shift(ranks / 2), planner.topology(), planner.start(), 0.05)});
  }
  EXPECT_EQ(planner.migrations(), 1U);
}

}  // namespace
}  // namespace rankloom
