// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/baseline/baselines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

TEST(RoundRobin, SkipsFullNodes) {
  EXPECT_THAT(spread(6, "node:3=10 core:2+3+1=1"), ElementsAre(0, 2, 5, 1, 3, 4));
}

TEST(RoundRobin, SkipsExcludedCores) {
  EXPECT_THAT(spread(3, "node:2=10 core:3=1 !core:0,3-4"), ElementsAre(1, 5, 2));
}

TEST(RoundRobin, GivesNoCoreASecondRankBeforeEveryCoreOfItsNodeHasOne) {
  EXPECT_THAT(spread(8, "node:2=10 core:2*2=1"), ElementsAre(0, 2, 1, 3, 0, 2, 1, 3));
  EXPECT_THAT(spread(5, "node:2=10 core:2=1", {.oversubscribe = true}), ElementsAre(0, 2, 1, 3, 0));
}

/// By core: how often it gets the last of `ranks` ranks, over many seeds.
std::vector<double> last_rank_frequency(const char* machine, std::uint32_t ranks) {
  constexpr int tries = 6000;
  const Topology built = testing::topology(machine);
  const auto capacities = Capacities::of(built, ranks, {});
  std::vector<double> frequency(built.core_count(), 0);
  for (int seed = 0; seed < tries; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    frequency[index(random_placement(ranks, built, *capacities, random).back())] += 1.0 / tries;
  }
  return frequency;
}

TEST(RandomPlacement, IsUniformOverTheSlots) {
  // One core of four is excluded. With one rank the slots are drawn by rejection, with three they are shuffled.
  for (const std::uint32_t ranks : {1U, 3U}) {
    const auto share = last_rank_frequency("node:1 core:4=1 !core:2", ranks);
    EXPECT_NEAR(share[0], 1.0 / 3, 0.03);
    EXPECT_NEAR(share[1], 1.0 / 3, 0.03);
    EXPECT_EQ(share[2], 0);
    EXPECT_NEAR(share[3], 1.0 / 3, 0.03);
  }
  const auto twice = last_rank_frequency("node:2=9 core:2*2=1", 7);
  for (const double share : twice) EXPECT_NEAR(share, 1.0 / 4, 0.03);
}

TEST(RandomPlacement, DependsOnTheSeed) {
  const auto problem =
      testing::make_problem(testing::random_graph(12, 0.5, 1), testing::topology("node:3=10 core:4=1"));
  EXPECT_NE(testing::place_with("random", problem, 1).core_of, testing::place_with("random", problem, 2).core_of);
}

TEST(Baselines, PackagesOfANodeTakeTurns) {
  const auto cores = [](const char* machine_text, std::uint32_t ranks, RoundRobinLevel level) {
    const Topology machine = testing::topology(machine_text);
    const auto placement =
        round_robin_placement(ranks, machine, *Capacities::of(machine, ranks, {.oversubscribe = true}), level);
    std::vector<std::uint32_t> numbers;
    for (const Core core : placement) numbers.push_back(index(core));
    return numbers;
  };
  using Numbers = std::vector<std::uint32_t>;
  EXPECT_EQ(cores("node:2 package:2 core:2", 6, RoundRobinLevel::package), (Numbers{0, 2, 1, 3, 4, 6}));
  EXPECT_EQ(cores("node:2 package:1 numa:2 core:2", 5, RoundRobinLevel::numa), (Numbers{0, 2, 1, 3, 4}));
  EXPECT_EQ(cores("node:2 package:2 core:2", 3, RoundRobinLevel::numa), (Numbers{0, 2, 1})) << "packages instead";
  EXPECT_EQ(cores("node:2 core:2", 4, RoundRobinLevel::package), (Numbers{0, 1, 2, 3})) << "a machine without packages";
  EXPECT_EQ(cores("node:2 package:2 core:1", 6, RoundRobinLevel::package), (Numbers{0, 1, 0, 2, 3, 2}))
      << "more ranks than cores are shared by all nodes";
}

}  // namespace
}  // namespace rankloom
