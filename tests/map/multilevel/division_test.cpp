// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/division.hpp"

#include <chrono>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using Rooms = std::vector<std::uint64_t>;

/// The cut as it is said and nobody above its room, which is checked.
Division checked(const WeightedGraph& graph, const Rooms& room, std::uint64_t seed, const DivisionEffort& effort = {}) {
  auto result = divided(graph, room, effort, seed);
  EXPECT_EQ(result.part_of.size(), graph.vertex_count());
  EXPECT_NEAR(result.cut, testing::cut_of(graph, result.part_of), 1e-6 * result.cut);
  EXPECT_EQ(testing::overload_of(graph, result.part_of, room), 0);
  return result;
}

DivisionEffort with_tries(std::uint32_t tries) {
  DivisionEffort effort;
  effort.tries = tries;
  return effort;
}

TEST(Divided, GivesEveryCliqueOfARingItsPart) {
  std::vector<testing::Line> lines;
  for (std::uint32_t clique = 0; clique < 5; ++clique) {
    testing::add_clique(lines, 8 * clique, 8);
    lines.push_back({8 * clique, (8 * clique + 12) % 40});
  }
  EXPECT_EQ(checked(testing::graph_of(40, lines), Rooms(5, 8), 1).cut, 5);
  EXPECT_EQ(checked(testing::graph_of(40, lines), Rooms(5, 9), 1).cut, 5);
}

TEST(Divided, KeepsUnevenRoomsExactlyWhereNothingIsFree) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const auto graph = testing::random_weighted(700, 5, seed);
    // The coarsest graph has larger vertices than one, which do not fit together evenly.
    for (const std::uint32_t vertices_a_part : {5U, 30U, 100U}) {
      DivisionEffort effort;
      effort.vertices_a_part = vertices_a_part;
      checked(graph, {101, 57, 1, 230, 111, 200}, seed, effort);
      checked(graph, {33, 667}, seed, effort);
      checked(graph, Rooms(7, 100), seed, effort);
      checked(graph, Rooms(100, 7), seed, effort);
    }
  }
}

TEST(Divided, LeavesPartsEmptyThatHaveNoRoomOrNobody) {
  checked(testing::square(4), {0, 8, 0, 8}, 1);
  checked(testing::graph_of(3, {}), Rooms(8, 1), 1);
  EXPECT_EQ(checked(testing::square(4), Rooms(3, 16), 1).cut, 0);
}

TEST(Divided, KeepsTheRoomsWhenTheTimeIsUp) {
  DivisionEffort effort;
  effort.deadline = Deadline::in(std::chrono::milliseconds(0));
  effort.vertices_a_part = 5;
  const Rooms room{101, 57, 1, 230, 111, 200};
  const auto result = divided(testing::random_weighted(700, 5, 1), room, effort, 1);
  EXPECT_EQ(testing::overload_of(testing::random_weighted(700, 5, 1), result.part_of, room), 0);
}

TEST(Divided, CutsASquareInFourAlmostStraight) {
  EXPECT_LE(checked(testing::square(48), Rooms(4, 594), 1, with_tries(4)).cut, 1.1 * 96);
  EXPECT_LE(checked(testing::square(48), Rooms(4, 576), 1, with_tries(4)).cut, 1.4 * 96);
}

TEST(Divided, IsTheSameForAnyNumberOfThreads) {
  const auto graph = testing::square(80);
  std::vector<std::vector<std::uint32_t>> results;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(checked(graph, Rooms(6, 1100), 3, with_tries(3)).part_of);
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace rankloom::multilevel
