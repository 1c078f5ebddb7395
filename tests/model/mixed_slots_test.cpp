// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/slots/mixed_slots.hpp"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/model/mapping.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::topology;

SlotShapes shapes_of(const char* cores, const char* gpus = nullptr) {
  const auto parsed_gpus = gpus == nullptr ? std::nullopt : RankNumbers::parse(gpus, 8);
  return SlotShapes::combine({RankNumbers::parse(cores, 64), std::nullopt, parsed_gpus}, {});
}

std::vector<Core> cores(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Core> result;
  for (const std::uint32_t number : numbers) result.push_back(Core{number});
  return result;
}

TEST(MixedSlots, LayoutsFillNodesByShapeOrGiveEachItsShare) {
  const auto machine = topology("node:2 core:8");
  const auto layouts = MixedSlots(machine, shapes_of("2x4,8x1").of_first(10), 10).layouts();
  ASSERT_EQ(layouts.size(), 2U);
  EXPECT_EQ(layouts[0], cores({0, 4, 8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(layouts[1], cores({0, 8, 4, 5, 6, 7, 12, 13, 14, 15}));
}

TEST(MixedSlots, NarrowRanksLeaveRoomForWideOnes) {
  const auto machine = topology("node:4 core:16");
  // The narrow ones first would use all cores of the first node.
  const auto layouts = MixedSlots(machine, shapes_of("16x1,4x12").of_first(20), 20).layouts();
  ASSERT_FALSE(layouts.empty());
  EXPECT_TRUE(MixedSlots(machine, shapes_of("16x1,4x12").of_first(20), 20).check(layouts[0], "test"));
  EXPECT_TRUE(MixedSlots(machine, shapes_of("4x12,17x1").of_first(21), 21).layouts().empty());
}

TEST(MixedSlots, StayInsideNumaNodesAndUseTheirHardwareThreads) {
  const auto machine = topology("numa:2 core:6 pu:2");
  const SlotShapes shapes = shapes_of("1x4,1x4,4x1").of_first(6);
  const MixedSlots slots(machine, shapes, 6);
  const auto layouts = slots.layouts();
  ASSERT_FALSE(layouts.empty());
  EXPECT_EQ(layouts[0], cores({0, 12, 8, 10, 20, 22})) << "a wide rank on each NUMA node";
  EXPECT_EQ(slots.leaves(Rank{0}, Core{0}), cores({0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(slots.leaves(Rank{2}, Core{8}), cores({8, 9}));
  EXPECT_TRUE(slots.leaves(Rank{0}, Core{1}).empty()) << "not the first hardware thread of a core";
  EXPECT_TRUE(slots.leaves(Rank{0}, Core{18}).empty()) << "beyond the end of the node";
}

TEST(MixedSlots, WideRanksCrossNumaNodesOnlyIfNothingElseFits) {
  const auto machine = topology("numa:2 core:3");
  const auto layouts = MixedSlots(machine, shapes_of("2x2,2x1").of_first(4), 4).layouts();
  EXPECT_EQ(layouts[0], cores({0, 3, 2, 5}));
  const auto across = MixedSlots(machine, shapes_of("1x4,2x1").of_first(3), 3).layouts();
  EXPECT_EQ(across[0], cores({0, 4, 5}));
}

TEST(MixedSlots, RanksWithGpusAreNearThem) {
  const auto machine = topology("node:1 numa:2 gpu:1 core:4");
  const SlotShapes shapes = shapes_of("2x2,4x1", "2x1").of_first(6);
  const MixedSlots slots(machine, shapes, 6);
  const auto layouts = slots.layouts();
  ASSERT_FALSE(layouts.empty());
  EXPECT_EQ(layouts[0], cores({0, 4, 2, 3, 6, 7}));
  const auto gpus = slots.gpus(layouts[0]);
  EXPECT_THAT(gpus[Rank{0}], ElementsAre(0));
  EXPECT_THAT(gpus[Rank{1}], ElementsAre(1));
  EXPECT_TRUE(gpus[Rank{2}].empty());
  EXPECT_TRUE(MixedSlots(machine, shapes_of("3x2,1x1", "3x1").of_first(4), 4).layouts().empty()) << "three GPUs";
}

TEST(MixedSlots, OverlappingSlotsAreRefused) {
  const auto machine = topology("node:2 core:4");
  const SlotShapes shapes = shapes_of("2x2,1x1").of_first(3);
  const MixedSlots slots(machine, shapes, 3);
  EXPECT_TRUE(slots.check(cores({0, 4, 2}), "m"));
  EXPECT_THAT(slots.check(cores({0, 4, 1}), "m").error().what,
              HasSubstr("rank 2 has core 1, which is also that of rank 0"));
  EXPECT_THAT(slots.check(cores({0, 3, 5}), "m").error().what, HasSubstr("a slot of 2 cores does not fit"));
  const auto capacities = Capacities::of(machine, 3, {.shapes = shapes});
  ASSERT_TRUE(capacities);
  EXPECT_TRUE(Mapping::create(cores({2, 4, 7}), machine, *capacities));
  EXPECT_FALSE(Mapping::create(cores({2, 4, 3}), machine, *capacities));
}

TEST(MixedSlots, LayoutsOfRandomMachinesAreValid) {
  Random random(7);
  int found = 0;
  for (int trial = 0; trial < 1000; ++trial) {
    const auto pick = [&](std::uint64_t max) { return static_cast<std::uint32_t>(1 + random.below(max)); };
    const std::uint32_t nodes = pick(4), domains = pick(3), width = pick(8), threads = pick(2), gpus = pick(2);
    const auto machine =
        topology(fmt::format("node:{} numa:{} gpu:{} core:{} pu:{}", nodes, domains, gpus, width, threads));
    SlotShapes shapes;
    for (std::uint32_t part = pick(3) + 1; part > 0; --part)
      shapes.append(pick(6), {.cores = pick(5), .threads_per_core = pick(2) - 1, .gpus = pick(3) / 3});
    const std::uint32_t ranks = shapes.named_ranks();
    shapes = shapes.of_first(ranks);
    SCOPED_TRACE(fmt::format("{}: {}", machine.spec().text, option_text(shapes)));
    const MixedSlots slots(machine, shapes, ranks);
    for (const auto& layout : slots.layouts()) {
      ++found;
      ASSERT_EQ(layout.size(), ranks);
      const auto valid = slots.check(layout, "layout");
      ASSERT_TRUE(valid) << to_string(valid.error());
      std::set<Core> used;
      std::set<std::pair<Node, std::uint32_t>> used_gpus;
      const auto gpus_of = slots.gpus(layout);
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const auto leaves = slots.leaves(Rank{rank}, layout[rank]);
        ASSERT_FALSE(leaves.empty());
        for (const Core leaf : leaves) {
          ASSERT_TRUE(used.insert(leaf).second);
          ASSERT_EQ(machine.node_of(leaf), machine.node_of(layout[rank]));
        }
        ASSERT_EQ(gpus_of[Rank{rank}].size(), shapes.of(Rank{rank}).gpus);
        for (const std::uint32_t gpu : gpus_of[Rank{rank}])
          ASSERT_TRUE(used_gpus.emplace(machine.node_of(layout[rank]), gpu).second);
      }
    }
  }
  EXPECT_GT(found, 300);
}

}  // namespace
}  // namespace rankloom
