// SPDX-License-Identifier: Apache-2.0
#include "rankloom/report/terminal/heat_map.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(HeatMap, ShadesByFactorsOfTen) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 1000);
  builder.add(Rank{1}, Rank{0}, 100);
  builder.add(Rank{1}, Rank{2}, 9.9);
  builder.add(Rank{2}, Rank{0}, 0.001);
  builder.add(Rank{2}, Rank{2}, 1e9);  // to itself: not shown
  EXPECT_EQ(heat_map(std::move(builder).build(false), 10),
            "  0 ··██··\n"
            "  1 ▓▓··▒▒\n"
            "  2 ░░····\n");
}

TEST(HeatMap, PutsNeighbouringRanksTogetherWhenThereAreMany) {
  CommGraphBuilder builder(10);
  for (std::uint32_t rank = 0; rank < 5; ++rank) builder.add(Rank{rank}, Rank{rank + 5}, 10);
  EXPECT_EQ(heat_map(std::move(builder).build(false), 2),
            "  0 ··██\n"
            "  5 ····\n");
}

TEST(HeatMap, IsEmptyWithoutRanks) {
  EXPECT_EQ(heat_map(CommGraph(), 8), "");
}

}  // namespace
}  // namespace rankloom
