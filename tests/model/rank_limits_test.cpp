// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/rank_limits.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::topology;

/// The slots of each core: "1010".
std::string text_of(const Capacities& capacities, const Topology& machine) {
  std::string text;
  for (const Core core : machine.cores()) text += fmt::format("{}", capacities.slots(machine, core));
  return text;
}

std::string limited(const Topology& machine, RankLimits limits, std::uint32_t ranks, std::vector<Core> keep = {},
                    SlotShape shape = {}) {
  const auto all = Capacities::of(machine, ranks, {.shapes = shape});
  EXPECT_TRUE(all) << to_string(all.error());
  const auto capacities = limit_ranks(*all, machine, limits, ranks, keep);
  return capacities ? text_of(*capacities, machine) : capacities.error().what;
}

TEST(RankLimits, SpreadTheRanksOfANodeOverItsNumaNodes) {
  const auto machine = topology("node:2 numa:2 core:4");
  EXPECT_EQ(limited(machine, {.per_node = 2}, 4), "1000100010001000");
  EXPECT_EQ(limited(machine, {.per_node = 3}, 6), "1010100010101000");
  EXPECT_EQ(limited(machine, {.per_numa = 1}, 4), "1000100010001000");
  EXPECT_EQ(limited(machine, {.per_numa = 2}, 8), "1010101010101010");
  EXPECT_EQ(limited(machine, {.per_node = 1, .per_numa = 4}, 2), "1000000010000000");
}

TEST(RankLimits, WithoutALimitAllSlotsRemain) {
  const auto machine = topology("node:2 numa:2 core:2");
  EXPECT_EQ(limited(machine, {}, 2), "11111111");
  EXPECT_EQ(limited(machine, {.per_node = 4, .per_numa = 2}, 2), "11111111");
}

TEST(RankLimits, SlotsInUseRemain) {
  const auto machine = topology("node:1 numa:2 core:4");
  EXPECT_EQ(limited(machine, {.per_numa = 2}, 4, {Core{2}, Core{3}, Core{7}}), "00111001");
  EXPECT_EQ(limited(machine, {.per_node = 3, .per_numa = 2}, 3, {Core{2}, Core{3}}), "00111000");
}

TEST(RankLimits, CountSlotsOfSeveralCores) {
  const auto machine = topology("node:1 numa:2 core:8 pu:2");
  EXPECT_EQ(limited(machine, {.per_numa = 2}, 4, {}, {.cores = 2}), "10000000100000001000000010000000");
}

TEST(RankLimits, FailIfTheRanksDoNotFit) {
  const auto machine = topology("node:2 core:4");
  EXPECT_THAT(limited(machine, {.per_node = 2}, 5), HasSubstr("5 ranks do not fit on 2 nodes, which take 4"));
}

TEST(RankLimits, OfAPlacementAreItsLargestNumbers) {
  const auto machine = topology("node:2 package:2 numa:2 core:2");
  const std::vector<Core> core_of{Core{0}, Core{1}, Core{2}, Core{8}, Core{12}};
  EXPECT_EQ(limits_of(core_of, machine), (RankLimits{.per_node = 3, .per_package = 3, .per_numa = 2}));
}

TEST(RankLimits, EvenOnesAreTheSmallestThatFit) {
  const auto machine = topology("node:2 package:2 numa:2 core:4");
  const auto even = [&](std::uint32_t ranks) {
    return even_limits(ranks, machine, *Capacities::of(machine, ranks, {}));
  };
  EXPECT_EQ(even(4), (RankLimits{.per_node = 2, .per_package = 1, .per_numa = 1}));
  EXPECT_EQ(even(9), (RankLimits{.per_node = 5, .per_package = 3, .per_numa = 2}));
  EXPECT_EQ(even(32), (RankLimits{.per_node = 16, .per_package = 8, .per_numa = 4}));
}

/// On random machines the ranks fit, no limit is exceeded, slots in use remain, and even limits cannot be reduced.
TEST(RankLimits, HoldOnRandomMachines) {
  Random random(3);
  for (int round = 0; round < 300; ++round) {
    const auto number = [&](std::uint32_t most) { return 1 + static_cast<std::uint32_t>(random.below(most)); };
    const auto machine = topology(
        fmt::format("node:{} package:{} numa:{} core:{} pu:{}", number(4), number(2), number(3), number(6), number(2)));
    const std::uint32_t most = machine.core_count();
    const std::uint32_t ranks = number(most);
    const auto all = Capacities::of(machine, ranks, {});
    ASSERT_TRUE(all);
    const RankLimits limits = even_limits(ranks, machine, *all);
    const auto capacities = limit_ranks(*all, machine, limits, ranks);
    ASSERT_TRUE(capacities) << to_string(capacities.error());
    EXPECT_GE(capacities->total(), ranks);
    std::vector<Core> chosen;
    for (const Core core : machine.cores()) {
      EXPECT_LE((*capacities)[core], (*all)[core]);
      chosen.insert(chosen.end(), (*capacities)[core], core);
    }
    const RankLimits reached = limits_of(chosen, machine);
    EXPECT_LE(reached.per_node, limits.per_node);
    EXPECT_LE(reached.per_package, limits.per_package);
    EXPECT_LE(reached.per_numa, limits.per_numa);
    if (limits.per_node > 1) {
      RankLimits fewer = limits;
      --fewer.per_node;
      EXPECT_FALSE(limit_ranks(*all, machine, fewer, ranks));
    }
    const auto block = block_placement(ranks, machine, *all);
    const auto as_block = limit_ranks(*all, machine, limits_of(block, machine), ranks, block);
    ASSERT_TRUE(as_block);
    EXPECT_TRUE(Mapping::create(block, machine, *as_block));
  }
}

}  // namespace
}  // namespace rankloom
