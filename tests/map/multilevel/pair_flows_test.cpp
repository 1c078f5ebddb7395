// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/pair_flows.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

/// Strips of columns with ragged borders.
std::vector<std::uint32_t> ragged_strips(std::uint32_t side, std::uint32_t parts, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> part_of(side * side);
  for (std::uint32_t at = 0; at < side * side; ++at) {
    const auto column = std::min<std::uint32_t>(side - 1, at % side + static_cast<std::uint32_t>(random.below(3)));
    part_of[at] = column * parts / side;
  }
  return part_of;
}

std::vector<std::uint64_t> with_slack(const WeightedGraph& graph, std::span<const std::uint32_t> part_of,
                                      std::uint32_t parts, std::uint64_t slack) {
  auto room = testing::held_by(graph, part_of, parts);
  for (std::uint64_t& part : room) part += slack;
  return room;
}

TEST(ImproveBorders, NeverRaisesTheCutAndKeepsTheRooms) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const auto random = testing::random_weighted(200, 5, seed);
    const auto grid = testing::square(24);
    for (const WeightedGraph* const graph : {&random, &grid}) {
      auto part_of = graph == &grid ? ragged_strips(24, 6, seed) : testing::random_parts(200, 6, seed);
      for (const std::uint64_t slack : {0, 1, 10}) {
        const auto room = with_slack(*graph, part_of, 6, slack);
        const double before = testing::cut_of(*graph, part_of);
        const double gained = improve_borders(*graph, room, part_of, 3);
        EXPECT_GE(gained, 0);
        EXPECT_NEAR(testing::cut_of(*graph, part_of), before - gained, 1e-6 * before);
        EXPECT_EQ(testing::overload_of(*graph, part_of, room), 0);
      }
    }
  }
}

TEST(ImproveBorders, StraightensRaggedBorders) {
  const auto graph = testing::square(48);
  auto part_of = ragged_strips(48, 4, 1);
  const double before = testing::cut_of(graph, part_of);
  improve_borders(graph, with_slack(graph, part_of, 4, 100), part_of, 4);
  EXPECT_GT(before, 1.5 * 3 * 48);
  EXPECT_LE(testing::cut_of(graph, part_of), 1.1 * 3 * 48);
}

TEST(ImproveBorders, LeavesPartsThatAreTooFullAlone) {
  const auto graph = testing::square(6);
  auto part_of = ragged_strips(6, 2, 1);
  const auto before = part_of;
  EXPECT_EQ(improve_borders(graph, std::vector<std::uint64_t>{1, 36}, part_of, 2), 0);
  EXPECT_EQ(part_of, before);
}

TEST(ImproveBorders, IsTheSameForAnyNumberOfThreads) {
  const auto graph = testing::square(60);
  const auto start = ragged_strips(60, 12, 1);
  const auto room = with_slack(graph, start, 12, 20);
  std::vector<std::vector<std::uint32_t>> results;
  std::vector<double> gains;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(start);
    gains.push_back(improve_borders(graph, room, results.back(), 3));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(gains[0], gains[1]);
}

}  // namespace
}  // namespace rankloom::multilevel
