// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/map/baseline/baselines.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::topology;

std::vector<std::uint32_t> spread(std::uint32_t ranks, const char* machine, Capacities::Options options = {}) {
  const Topology built = topology(machine);
  const auto capacities = Capacities::of(built, ranks, options);
  std::vector<std::uint32_t> cores;
  for (const Core core : round_robin_placement(ranks, built, *capacities)) cores.push_back(index(core));
  return cores;
}

using ::testing::ElementsAre;

TEST(RoundRobin, GivesEachNodeOneRankInTurn) {
  EXPECT_THAT(spread(6, "node:3=10 core:2=1"), ElementsAre(0, 2, 4, 1, 3, 5));
  EXPECT_THAT(spread(4, "node:3=10 core:2=1"), ElementsAre(0, 2, 4, 1));
}

TEST(RoundRobin, PassesOverNodesThatAreFull) {
  EXPECT_THAT(spread(6, "node:3=10 core:2+3+1=1"), ElementsAre(0, 2, 5, 1, 3, 4));
}

TEST(RoundRobin, PassesOverCoresThatAreNotToBeUsed) {
  EXPECT_THAT(spread(3, "node:2=10 core:3=1 !core:0,3-4"), ElementsAre(1, 5, 2));
}

TEST(RoundRobin, GivesNoCoreASecondRankBeforeAllOfTheNodeHaveOne) {
  EXPECT_THAT(spread(8, "node:2=10 core:2*2=1"), ElementsAre(0, 2, 1, 3, 0, 2, 1, 3));
  EXPECT_THAT(spread(5, "node:2=10 core:2=1", {.oversubscribe = true}), ElementsAre(0, 2, 1, 3, 0));
}

}  // namespace
}  // namespace rankloom
