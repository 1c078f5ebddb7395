// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/slots/slots.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/model/mapping.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::topology;

std::vector<std::vector<std::uint32_t>> slots_of(const Topology& machine, std::uint32_t ranks, SlotShape shape) {
  const auto slots = Slots::cut(machine, ranks, shape);
  EXPECT_TRUE(slots) << to_string(slots.error());
  std::vector<std::vector<std::uint32_t>> list;
  for (std::size_t slot = 0; slot < slots->count(); ++slot) {
    list.emplace_back();
    for (const Core leaf : slots->leaves(slot)) list.back().push_back(index(leaf));
  }
  return list;
}

using List = std::vector<std::vector<std::uint32_t>>;

TEST(Slots, AreTheCoresOfAMachineWithoutHardwareThreads) {
  EXPECT_TRUE(Slots::cut(topology("node:2 core:4"), 8, {})->are_leaves());
  EXPECT_TRUE(Slots::cut(topology("node:2 core:4 pu:1"), 8, {})->are_leaves());
}

TEST(Slots, ARankHasACoreWithAllItsHardwareThreads) {
  const auto machine = topology("package:2 core:2 pu:2");
  EXPECT_EQ(slots_of(machine, 4, {}), (List{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(slots_of(machine, 4, {.threads_per_core = 1}), (List{{0}, {2}, {4}, {6}}));
  EXPECT_TRUE(Slots::cut(machine, 5, {})->are_leaves()) << "more ranks than cores use all hardware threads";
}

TEST(Slots, StayInsideCachesAndPackagesAsLongAsTheySuffice) {
  const auto machine = topology("package:2 l3:2 core:3");
  EXPECT_EQ(slots_of(machine, 4, {.cores = 2}), (List{{0, 1}, {3, 4}, {6, 7}, {9, 10}}));
  // The fifth and sixth slot need cores of two caches, but of one package.
  EXPECT_EQ(slots_of(machine, 5, {.cores = 2}), (List{{0, 1}, {2, 5}, {3, 4}, {6, 7}, {9, 10}}));
  EXPECT_EQ(slots_of(machine, 6, {.cores = 2}).size(), 6U);
  EXPECT_EQ(slots_of(machine, 2, {.cores = 5}), (List{{0, 1, 2, 3, 4}, {6, 7, 8, 9, 10}}));
}

TEST(Slots, BeginWithPartsOfAnObjectIfThereAreCoresToSpare) {
  // Two NUMA nodes each instead of two and three.
  const List expected{{0, 1, 2, 3, 4, 5, 6, 7}, {10, 11, 12, 13, 14, 15, 16, 17}};
  EXPECT_EQ(slots_of(topology("numa:4 core:5"), 2, {.cores = 8}), expected);
  EXPECT_EQ(slots_of(topology("numa:3 core:5"), 3, {.cores = 5}),
            (List{{0, 1, 2, 3, 4}, {5, 6, 7, 8, 9}, {10, 11, 12, 13, 14}}));
  EXPECT_EQ(slots_of(topology("numa:4 core:4"), 2, {.cores = 8}).size(), 2U) << "no core to spare";
}

TEST(Slots, OfFewerCoresMayFitIntoNumaNodes) {
  const auto machine = topology("numa:2 core:6");
  EXPECT_EQ(cores_of_one_memory(machine, 3, {.cores = 4}), 3U);
  EXPECT_EQ(cores_of_one_memory(machine, 2, {.cores = 4}), 4U);
  EXPECT_EQ(cores_of_one_memory(machine, 1, {.cores = 8}), 8U) << "larger than a NUMA node";
  EXPECT_EQ(cores_of_one_memory(machine, 13, {.cores = 2}), 0U);
}

TEST(Slots, AcrossCachesAreInDifferentPackages) {
  const auto slots = slots_of(topology("package:2 l3:4 core:3"), 10, {.cores = 2});
  ASSERT_EQ(slots.size(), 10U);
  EXPECT_EQ(std::count_if(slots.begin(), slots.end(), [](const auto& slot) { return slot[0] < 12; }), 5);
}

TEST(Slots, HaveWholeCoresWhoseHardwareThreadsHaveTheirOwnCache) {
  const auto machine = topology("package:1 core:2 l1:2 pu:1");
  EXPECT_TRUE(has_hardware_threads(machine));
  EXPECT_EQ(slots_of(machine, 2, {}), (List{{0, 1}, {2, 3}}));
  EXPECT_EQ(slots_of(machine, 1, {.cores = 2}), (List{{0, 1, 2, 3}}));
}

TEST(Slots, AreNotLargerThanANode) {
  const auto slots = Slots::cut(topology("node:4 core:4"), 2, {.cores = 5});
  ASSERT_FALSE(slots);
  EXPECT_THAT(slots.error().what, HasSubstr("does not fit on a node of 4"));
}

TEST(Slots, LeaveOutCoresWithoutCapacity) {
  const auto machine = topology("core:6 !core:0,1");
  EXPECT_EQ(slots_of(machine, 2, {.cores = 2}), (List{{2, 3}, {4, 5}}));
}

/// A machine of two to four levels inside its nodes, with hardware threads or without.
std::string random_machine(Random& random) {
  std::string text = fmt::format("node:{}", 1 + random.below(3));
  for (const char* const kind : {"package", "numa", "l3"})
    if (random.below(2) == 0) text += fmt::format(" {}:{}", kind, 1 + random.below(3));
  text += fmt::format(" core:{}", 1 + random.below(6));
  if (random.below(2) == 0) text += fmt::format(" pu:{}", 1 + random.below(4));
  return text;
}

/// The innermost level of which all leaves belong to one object.
std::size_t innermost_level(const Topology& machine, const std::vector<std::uint32_t>& leaves) {
  std::size_t level = machine.levels().size() - 1;
  for (const std::uint32_t leaf : leaves) {
    while (level > 0 && machine.object_of(level, Core{leaf}) != machine.object_of(level, Core{leaves[0]})) --level;
  }
  return level;
}

TEST(Slots, OfRandomMachinesAreWholeSeparateAndLocal) {
  Random random(3);
  for (int trial = 0; trial < 1000; ++trial) {
    const std::string text = random_machine(random);
    const auto machine = topology(text);
    const bool threads = has_hardware_threads(machine);
    const std::size_t cores_at = core_level(machine);
    EXPECT_EQ(cores_at, machine.levels().size() - (threads ? 2 : 1));
    const auto cores = static_cast<std::uint32_t>(machine.levels()[cores_at].objects);
    const SlotShape shape{.cores = 1 + static_cast<std::uint32_t>(random.below(8)),
                          .threads_per_core = static_cast<std::uint32_t>(random.below(2))};
    const auto ranks = 1 + static_cast<std::uint32_t>(random.below(cores));
    SCOPED_TRACE(
        fmt::format("{}: {} ranks of {} cores and {} threads", text, ranks, shape.cores, shape.threads_per_core));
    const auto cut = Slots::cut(machine, ranks, shape);
    if (!cut) {
      EXPECT_GT(std::uint64_t{shape.cores} * machine.node_count(), cores);
      continue;
    }
    if (cut->are_leaves()) continue;
    std::set<std::uint32_t> used;
    std::size_t across = 0, inside = 0;
    for (const auto& slot : slots_of(machine, ranks, shape)) {
      std::set<std::uint32_t> cores_of_slot;
      for (const std::uint32_t leaf : slot) {
        EXPECT_TRUE(used.insert(leaf).second) << "leaf " << leaf << " is in two slots";
        cores_of_slot.insert(machine.object_of(cores_at, Core{leaf}));
      }
      EXPECT_EQ(cores_of_slot.size(), shape.cores);
      const std::size_t level = innermost_level(machine, slot);
      EXPECT_GE(level, machine.node_level()) << "a slot is on two nodes";
      // Could it be inside an object of a lower level?
      const bool avoidable = level < cores_at && [&] {
        std::map<std::uint32_t, std::uint32_t> size;
        for (std::uint32_t core = 0; core < cores; ++core)
          ++size[machine.object_of(level + 1, machine.first_core(cores_at, core))];
        return std::any_of(size.begin(), size.end(), [&](const auto& object) { return object.second >= shape.cores; });
      }();
      (avoidable ? across : inside) += 1;
    }
    if (across > 0) {
      EXPECT_LE(across + inside, ranks) << "slots across domains are made only as needed";
    }
  }
}

TEST(Capacities, OnlyTheFirstLeafOfASlotTakesARank) {
  const auto machine = topology("package:2 core:2 pu:2");
  const auto capacities = Capacities::of(machine, 4, {});
  ASSERT_TRUE(capacities);
  EXPECT_EQ(capacities->total(), 4U);
  const std::vector<Core> expected{Core{0}, Core{2}, Core{4}, Core{6}};
  EXPECT_EQ(block_placement(4, machine, *capacities), expected);
  EXPECT_EQ(Capacities::of(machine, 8, {})->total(), 8U);
  EXPECT_FALSE(Capacities::of(machine, 9, {}));
  EXPECT_FALSE(Capacities::of(machine, 3, {.shapes = SlotShape{.cores = 2}}));
  const auto shared = Capacities::of(machine, 4, {.oversubscribe = true, .shapes = SlotShape{.cores = 2}});
  ASSERT_TRUE(shared);
  const std::vector<Core> pairs{Core{0}, Core{0}, Core{4}, Core{4}};
  EXPECT_EQ(block_placement(4, machine, *shared), pairs);
}

/// The GPUs of each slot and its first core: "0 1@16".
std::vector<std::string> gpu_slots(const Topology& machine, std::uint32_t ranks, SlotShape shape) {
  const auto slots = Slots::cut(machine, ranks, shape);
  EXPECT_TRUE(slots) << to_string(slots.error());
  std::vector<std::string> list;
  for (std::size_t slot = 0; slots && slot < slots->count(); ++slot)
    list.push_back(fmt::format("{}@{}", fmt::join(slots->gpus(slot), " "), index(slots->leaves(slot)[0])));
  return list;
}

TEST(GpuSlots, HaveCoresNearTheirGpus) {
  const auto machine = topology("node:2 numa:2 gpu:2 core:8");
  EXPECT_THAT(gpu_slots(machine, 8, {.cores = 4, .gpus = 1}),
              ElementsAre("0@0", "1@4", "2@8", "3@12", "0@16", "1@20", "2@24", "3@28"));
  EXPECT_THAT(gpu_slots(machine, 4, {.cores = 8, .gpus = 2}), ElementsAre("0 1@0", "2 3@8", "0 1@16", "2 3@24"));
  EXPECT_THAT(gpu_slots(machine, 8, {.cores = 1, .gpus = 1}),
              ElementsAre("0@0", "1@4", "2@8", "3@12", "0@16", "1@20", "2@24", "3@28"))
      << "few cores are spread over those near the GPUs";
  EXPECT_THAT(gpu_slots(machine, 2, {.cores = 2, .gpus = 4}), ElementsAre("0 1 2 3@0", "0 1 2 3@16"));
}

/// A node whose NUMA nodes have these GPUs.
Topology node_with_gpus(const std::string& numa_text, const std::vector<std::vector<std::uint32_t>>& gpus) {
  MachineSpec spec = topology("node:1 numa:1 " + numa_text).spec();
  ObjectSpec& node = spec.root.children[0];
  const ObjectSpec numa = node.children[0];
  node.children.clear();
  for (const auto& numbers : gpus) {
    node.children.push_back(numa);
    for (const std::uint32_t number : numbers)
      node.children.back().devices.push_back({.kind = "gpu", .number = number});
  }
  return testing::built(std::move(spec));
}

TEST(GpuSlots, FollowTheNumbersOfTheMachine) {
  // As on nodes with four MI250X: two GPUs per NUMA node, in another order than the NUMA nodes.
  EXPECT_THAT(
      gpu_slots(node_with_gpus("l3:2 core:8 pu:2", {{4, 5}, {2, 3}, {6, 7}, {0, 1}}), 8, {.cores = 8, .gpus = 1}),
      ElementsAre("4@0", "5@16", "2@32", "3@48", "6@64", "7@80", "0@96", "1@112"));
}

TEST(GpuSlots, ThatAreWiderThanTheCacheOfTheirGpuAreInItsNumaNode) {
  EXPECT_THAT(gpu_slots(topology("node:1 numa:4 l3:2 gpu:1 core:8"), 4, {.cores = 16, .gpus = 1}),
              ElementsAre("0@0", "2@16", "4@32", "6@48"));
}

TEST(GpuSlots, HaveGpusOfOneNumaNode) {
  EXPECT_THAT(gpu_slots(topology("node:1 numa:2 gpu:4 core:8"), 2, {.cores = 4, .gpus = 3}),
              ElementsAre("0 1 2@0", "4 5 6@8"));
}

TEST(GpuSlots, TakeOtherCoresOnlyIfTooFewAreNear) {
  const Topology machine = node_with_gpus("core:2", {{}, {0, 1, 2}});
  EXPECT_THAT(gpu_slots(machine, 2, {.cores = 1, .gpus = 1}), ElementsAre("0@2", "1@3"));
  EXPECT_THAT(gpu_slots(machine, 3, {.cores = 1, .gpus = 1}), ElementsAre("2@0", "0@2", "1@3"));
}

TEST(GpuSlots, HaveCoresOfTwoCachesRatherThanAGpuOfAnotherNumaNode) {
  EXPECT_THAT(gpu_slots(node_with_gpus("l3:2 core:8", {{0, 1, 2}, {3}}), 4, {.cores = 5, .gpus = 1}),
              ElementsAre("0@0", "1@5", "2@8", "3@16"));
}

TEST(GpuSlots, ShareGpusEvenlyIfRanksMay) {
  const Topology machine = topology("node:2 numa:2 gpu:1 core:8");
  EXPECT_THAT(gpu_slots(machine, 4, {.cores = 2, .gpus = 1, .ranks_per_gpu = 4}),
              ElementsAre("0@0", "1@8", "0@16", "1@24"));
  EXPECT_THAT(gpu_slots(machine, 6, {.cores = 2, .gpus = 1, .ranks_per_gpu = 4}),
              ElementsAre("0@0", "1@8", "1@12", "0@16", "1@24", "1@28"));
  EXPECT_EQ(gpu_slots(machine, 100, {.cores = 2, .gpus = 1, .ranks_per_gpu = 3}).size(), 12U);
}

TEST(GpuSlots, OfRandomMachinesUseGpusAsAskedAndCoresNearThem) {
  Random random(19);
  for (int instance = 0; instance < 1000; ++instance) {
    const auto pick = [&](std::uint64_t max) { return static_cast<std::uint32_t>(1 + random.below(max)); };
    const std::uint32_t domains = pick(4), cores = pick(8), gpus = pick(4), nodes = pick(3), threads = pick(2);
    const Topology machine =
        topology(fmt::format("node:{} numa:{} gpu:{} l3:2 core:{} pu:{}", nodes, domains, gpus, cores, threads));
    const SlotShape shape{.cores = pick(6), .threads_per_core = 0, .gpus = pick(4), .ranks_per_gpu = pick(3)};
    const std::uint32_t ranks = pick(std::uint64_t{nodes} * domains * gpus * shape.ranks_per_gpu);
    const auto slots = Slots::cut(machine, ranks, shape);
    SCOPED_TRACE(
        fmt::format("instance {}: {} ranks on {} with {}", instance, ranks, machine.spec().text, option_text(shape)));
    if (!slots) {
      EXPECT_TRUE(shape.gpus > gpus * domains || shape.cores > 2 * cores * domains) << to_string(slots.error());
      continue;
    }
    // How many slots a NUMA node has for its own GPUs. GPUs are shared as little as possible.
    const std::uint32_t groups = gpus / shape.gpus, all_groups = nodes * domains * groups;
    const std::uint32_t ranks_per_gpu =
        groups == 0 ? 1 : std::clamp((ranks + all_groups - 1) / all_groups, 1U, shape.ranks_per_gpu);
    // GPUs of several NUMA nodes form a group before GPUs are shared.
    const bool others = ranks > all_groups && (gpus % shape.gpus) * domains >= shape.gpus;
    const bool all_near =
        !others && 2 * cores / shape.cores >= groups * ranks_per_gpu && ranks <= all_groups * ranks_per_gpu;
    std::map<std::pair<Node, std::uint32_t>, std::uint32_t> users;
    std::set<Core> leaves;
    const std::size_t domain_level = machine.node_level() + 1;
    for (std::size_t slot = 0; slot < slots->count(); ++slot) {
      const Node node = machine.node_of(slots->leaves(slot)[0]);
      ASSERT_EQ(slots->gpus(slot).size(), shape.gpus);
      for (const std::uint32_t gpu : slots->gpus(slot)) {
        const std::uint32_t sharing = ++users[std::pair(node, gpu)];
        ASSERT_LE(sharing, groups > 0 ? ranks_per_gpu : shape.ranks_per_gpu);
        for (const Core leaf : slots->leaves(slot)) {
          if (all_near) {
            ASSERT_EQ(machine.object_of(domain_level, leaf) % domains, gpu / gpus);
          }
        }
      }
      for (const Core leaf : slots->leaves(slot)) {
        ASSERT_TRUE(leaves.insert(leaf).second);
        ASSERT_EQ(machine.node_of(leaf), node);
      }
    }
    if (all_near) {
      ASSERT_GE(slots->count(), ranks);
    }
  }
}

TEST(GpuSlots, NeedGpus) {
  const auto slots = Slots::cut(topology("node:2 gpu:2 core:8"), 2, {.gpus = 3});
  ASSERT_FALSE(slots);
  EXPECT_THAT(slots.error().what, HasSubstr("no node of the machine has 3 GPUs"));
}

}  // namespace
}  // namespace rankloom
