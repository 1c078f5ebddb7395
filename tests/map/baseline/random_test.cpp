// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rankloom/map/baseline/baselines.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// How often the core holds the last of `ranks` ranks, over many seeds.
std::vector<double> shares(const char* machine, std::uint32_t ranks) {
  constexpr int tries = 6000;
  const Topology built = testing::topology(machine);
  const auto capacities = Capacities::of(built, ranks, {});
  std::vector<double> share(built.core_count(), 0);
  for (int seed = 0; seed < tries; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    share[index(random_placement(ranks, built, *capacities, random).back())] += 1.0 / tries;
  }
  return share;
}

TEST(RandomPlacement, IsUniformOverTheSlots) {
  // One core of four is not to be used; with one rank seats are drawn, with three they are shuffled.
  for (const std::uint32_t ranks : {1U, 3U}) {
    const auto share = shares("node:1 core:4=1 !core:2", ranks);
    EXPECT_NEAR(share[0], 1.0 / 3, 0.03);
    EXPECT_NEAR(share[1], 1.0 / 3, 0.03);
    EXPECT_EQ(share[2], 0);
    EXPECT_NEAR(share[3], 1.0 / 3, 0.03);
  }
  const auto twice = shares("node:2=9 core:2*2=1", 7);
  for (const double share : twice) EXPECT_NEAR(share, 1.0 / 4, 0.03);
}

TEST(RandomPlacement, DependsOnTheSeed) {
  const auto problem =
      testing::make_problem(testing::random_graph(12, 0.5, 1), testing::topology("node:3=10 core:4=1"));
  EXPECT_NE(testing::placed_by("random", problem, 1).core_of, testing::placed_by("random", problem, 2).core_of);
}

}  // namespace
}  // namespace rankloom
