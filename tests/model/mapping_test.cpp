// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/mapping.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using testing::every_machine;
using testing::topology;

TEST(Capacities, MoreRanksThanPlacesIsInfeasibleUnlessAllowed) {
  const auto machine = topology("core:4");
  const auto strict = Capacities::of(machine, 5, {});
  ASSERT_FALSE(strict);
  EXPECT_EQ(strict.error().code, Code::infeasible);
  const auto shared = Capacities::of(machine, 5, {.oversubscribe = true});
  ASSERT_TRUE(shared);
  EXPECT_EQ((*shared)[Core{0}], 2U);
}

TEST(Capacities, ImbalanceGivesEveryCoreItsShareAndALittleMore) {
  const auto capacities = Capacities::of(topology("core:4"), 400, {.imbalance = 0.03});
  ASSERT_TRUE(capacities);
  EXPECT_EQ((*capacities)[Core{3}], 103U);
}

TEST(Capacities, HolesHoldNothingEvenWhenOversubscribed) {
  const auto machine = topology("core:4 !core:1");
  const auto capacities = Capacities::of(machine, 9, {.oversubscribe = true});
  ASSERT_TRUE(capacities);
  EXPECT_EQ((*capacities)[Core{1}], 0U);
  EXPECT_EQ(capacities->total(), 9U);
}

TEST(BlockPlacement, FillsTheCoresInOrder) {
  const auto machine = topology("node:2 core:2*2 !core:1");
  const auto capacities = Capacities::of(machine, 5, {});
  EXPECT_THAT(block_placement(5, machine, *capacities), ElementsAre(Core{0}, Core{0}, Core{2}, Core{2}, Core{3}));
}

TEST(BlockPlacement, SharesTheRanksEvenlyWhenThereAreMoreThanPlaces) {
  const auto machine = topology("core:3");
  const auto capacities = Capacities::of(machine, 7, {.oversubscribe = true});
  EXPECT_THAT(block_placement(7, machine, *capacities),
              ElementsAre(Core{0}, Core{0}, Core{0}, Core{1}, Core{1}, Core{2}, Core{2}));
}

TEST(BlockPlacement, IsValidOnEveryMachine) {
  for (const auto& [name, machine] : every_machine()) {
    for (const std::uint32_t ranks : {1U, 5U, 8U, 40U, 1000U}) {
      const auto capacities = Capacities::of(machine, ranks, {.oversubscribe = true});
      ASSERT_TRUE(capacities);
      auto placement = block_placement(ranks, machine, *capacities);
      ASSERT_EQ(placement.size(), ranks) << name;
      EXPECT_TRUE(Mapping::create(std::move(placement), machine, *capacities)) << name;
    }
  }
}

TEST(Mapping, ACoreOutsideTheMachineIsNamedWithItsLine) {
  const auto machine = topology("core:4");
  const auto mapping = Mapping::create({Core{0}, Core{4}}, machine, *Capacities::of(machine, 2, {}), "m.txt");
  ASSERT_FALSE(mapping);
  EXPECT_EQ(to_string(mapping.error()).substr(0, 8), "m.txt:2:");
}

TEST(Mapping, TwoRanksOnOneCoreNeedRoom) {
  const auto machine = topology("core:4");
  EXPECT_FALSE(Mapping::create({Core{1}, Core{1}}, machine, *Capacities::of(machine, 2, {})));
  const auto roomy = topology("core:4*2");
  EXPECT_TRUE(Mapping::create({Core{1}, Core{1}}, roomy, *Capacities::of(roomy, 2, {})));
}

}  // namespace
}  // namespace rankloom
