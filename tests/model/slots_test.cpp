// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/slots.hpp"

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
    const std::size_t core_level = machine.levels().size() - (threads ? 2 : 1);
    const auto cores = static_cast<std::uint32_t>(machine.levels()[core_level].objects);
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
        cores_of_slot.insert(machine.object_of(core_level, Core{leaf}));
      }
      EXPECT_EQ(cores_of_slot.size(), shape.cores);
      const std::size_t level = innermost_level(machine, slot);
      EXPECT_GE(level, machine.node_level()) << "a slot is on two nodes";
      // Could it be inside an object of a lower level?
      const bool avoidable = level < core_level && [&] {
        std::map<std::uint32_t, std::uint32_t> size;
        for (std::uint32_t core = 0; core < cores; ++core)
          ++size[machine.object_of(level + 1, machine.first_core(core_level, core))];
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
std::vector<std::string> gpu_slots(const Topology& machine, SlotShape shape) {
  const auto slots = Slots::cut(machine, 1, shape);
  EXPECT_TRUE(slots) << to_string(slots.error());
  std::vector<std::string> list;
  for (std::size_t slot = 0; slots && slot < slots->count(); ++slot)
    list.push_back(fmt::format("{}@{}", fmt::join(slots->gpus(slot), " "), index(slots->leaves(slot)[0])));
  return list;
}

TEST(GpuSlots, HaveCoresNearTheirGpus) {
  const auto machine = topology("node:2 numa:2 gpu:2 core:8");
  EXPECT_THAT(gpu_slots(machine, {.cores = 4, .gpus = 1}),
              ElementsAre("0@0", "1@4", "2@8", "3@12", "0@16", "1@20", "2@24", "3@28"));
  EXPECT_THAT(gpu_slots(machine, {.cores = 8, .gpus = 2}), ElementsAre("0 1@0", "2 3@8", "0 1@16", "2 3@24"));
  EXPECT_THAT(gpu_slots(machine, {.cores = 1, .gpus = 1}),
              ElementsAre("0@0", "1@4", "2@8", "3@12", "0@16", "1@20", "2@24", "3@28"))
      << "few cores are spread over those near the GPUs";
  EXPECT_THAT(gpu_slots(machine, {.cores = 2, .gpus = 4}), ElementsAre("0 1 2 3@0", "0 1 2 3@16"));
}

TEST(GpuSlots, FollowTheNumbersOfTheMachine) {
  // As on nodes with four MI250X: two GPUs per NUMA node, in another order than the NUMA nodes.
  MachineSpec spec = topology("numa:4 l3:2 core:8 pu:2").spec();
  const auto with_gpus = [&](ObjectSpec numa, std::uint32_t first) {
    numa.repeat = 1;
    for (const std::uint32_t number : {first, first + 1}) numa.devices.push_back({.kind = "gpu", .number = number});
    return numa;
  };
  ObjectSpec& parent = spec.root.children[0].kind == "numa" ? spec.root : spec.root.children[0];
  const ObjectSpec numa = parent.children[0];
  parent.children.clear();
  for (const std::uint32_t first : {4U, 2U, 6U, 0U}) parent.children.push_back(with_gpus(numa, first));
  const auto machine = Topology::build(spec);
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_THAT(gpu_slots(*machine, {.cores = 8, .gpus = 1}),
              ElementsAre("4@0", "5@16", "2@32", "3@48", "6@64", "7@80", "0@96", "1@112"));
}

TEST(GpuSlots, TakeOtherCoresIfTooFewAreNear) {
  const auto machine = topology("node:1 numa:2 core:2");
  MachineSpec spec = machine.spec();
  spec.root.children[0].repeat = 1;
  ObjectSpec& node = spec.root.children[0];
  const ObjectSpec numa = node.children[0];
  node.children = {numa, numa};
  for (ObjectSpec& part : node.children) part.repeat = 1;
  node.children[1].devices.assign(3, {.kind = "gpu"});
  EXPECT_THAT(gpu_slots(*Topology::build(spec), {.cores = 1, .gpus = 1}), ElementsAre("2@0", "0@2", "1@3"));
}

TEST(GpuSlots, OfRandomMachinesUseEveryGpuOnceAndCoresNearIt) {
  Random random(19);
  for (int instance = 0; instance < 1000; ++instance) {
    const auto pick = [&](std::uint64_t max) { return static_cast<std::uint32_t>(1 + random.below(max)); };
    const std::uint32_t domains = pick(4), cores = pick(8), gpus = pick(4), nodes = pick(3), threads = pick(2);
    const Topology machine =
        topology(fmt::format("node:{} numa:{} gpu:{} l3:2 core:{} pu:{}", nodes, domains, gpus, cores, threads));
    const SlotShape shape{.cores = pick(4), .threads_per_core = 0, .gpus = pick(4)};
    const auto slots = Slots::cut(machine, 1, shape);
    SCOPED_TRACE(fmt::format("instance {}: {} with {}", instance, machine.spec().text, option_text(shape)));
    if (!slots) {
      EXPECT_TRUE(shape.gpus > gpus * domains || shape.cores > 2 * cores * domains) << to_string(slots.error());
      continue;
    }
    std::set<std::pair<Node, std::uint32_t>> used;
    std::set<Core> leaves;
    const std::size_t domain_level = machine.node_level() + 1;
    for (std::size_t slot = 0; slot < slots->count(); ++slot) {
      const Node node = machine.node_of(slots->leaves(slot)[0]);
      ASSERT_EQ(slots->gpus(slot).size(), shape.gpus);
      for (const std::uint32_t gpu : slots->gpus(slot)) ASSERT_TRUE(used.emplace(node, gpu).second);
      for (const Core leaf : slots->leaves(slot)) {
        ASSERT_TRUE(leaves.insert(leaf).second);
        ASSERT_EQ(machine.node_of(leaf), node);
      }
      // One GPU, and room for all slots of the domain in its caches: the cores are in the domain of the GPU.
      const bool room = shape.gpus == 1 && 2 * (cores / shape.cores) >= gpus;
      if (room) {
        ASSERT_EQ(machine.object_of(domain_level, slots->leaves(slot)[0]) % domains, slots->gpus(slot)[0] / gpus);
      }
    }
    const std::uint32_t expected = gpus * domains / shape.gpus;
    ASSERT_LE(slots->count(), std::size_t{expected} * nodes);
    if (2 * (cores / shape.cores) * domains >= expected) {
      ASSERT_EQ(slots->count(), std::size_t{expected} * nodes);
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
