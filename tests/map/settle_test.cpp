// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/settle.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::random_graph;

CommGraph graph_of(std::uint32_t ranks, std::initializer_list<std::tuple<std::uint32_t, std::uint32_t, double>> edges) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to, bytes] : edges) builder.add(Rank{from}, Rank{to}, bytes);
  return std::move(builder).build(false);
}

TEST(Settle, MovesAsFewAsMustAndThoseThatLoseLeast) {
  // Two triangles and a loose end, all in part 0; part 1 has room for three. The triangle of 3, 4, 5 talks least.
  const Affinity affinity(
      graph_of(7, {{0, 1, 9}, {1, 2, 9}, {0, 2, 9}, {3, 4, 2}, {4, 5, 2}, {3, 5, 2}, {2, 3, 1}, {0, 6, 9}}));
  std::vector<std::uint32_t> part_of(7, 0);
  settle(affinity, part_of, std::vector<std::uint64_t>{4, 3});
  EXPECT_EQ(part_of, (std::vector<std::uint32_t>{0, 0, 0, 1, 1, 1, 0}));
}

TEST(Settle, FillsEveryPartToItsRoomWhenItIsTight) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Affinity affinity(random_graph(30, 0.2, seed));
    Random random(seed);
    std::vector<std::uint32_t> part_of(30);
    for (auto& part : part_of) part = static_cast<std::uint32_t>(random.below(4));
    const std::vector<std::uint64_t> room{3, 12, 0, 15};
    settle(affinity, part_of, room);
    for (std::uint32_t part = 0; part < 4; ++part) {
      EXPECT_EQ(static_cast<std::uint64_t>(std::count(part_of.begin(), part_of.end(), part)), room[part]);
    }
  }
}

}  // namespace
}  // namespace rankloom
