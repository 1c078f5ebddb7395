// SPDX-License-Identifier: Apache-2.0
// map: the slots of the machine in one numbering: for random choices that are uniform over all slots, and for
// constructions that fill slots one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Numbers all slots of all cores in the order of the cores. O(cores) memory, or O(1) when every core has one slot.
class SlotNumbering {
 public:
  struct Slot {
    Core core;
    std::uint32_t index_on_core;
  };

  SlotNumbering(const Topology& topology, const Capacities& capacities) : total_(capacities.total()) {
    if (capacities.is_one_each()) return;
    first_slot_.reserve(topology.core_count());
    std::uint64_t slots = 0;
    for (const Core core : topology.cores()) {
      first_slot_.push_back(slots);
      slots += capacities[core];
    }
  }

  std::uint64_t total() const { return total_; }
  /// O(log cores), O(1) when every core has one slot.
  Slot operator[](std::uint64_t slot) const {
    if (first_slot_.empty()) return {Core{static_cast<std::uint32_t>(slot)}, 0};
    const auto after = std::upper_bound(first_slot_.begin(), first_slot_.end(), slot);
    const auto core = static_cast<std::uint32_t>(after - first_slot_.begin() - 1);
    return {Core{core}, static_cast<std::uint32_t>(slot - first_slot_[core])};
  }

 private:
  std::vector<std::uint64_t> first_slot_;
  std::uint64_t total_;
};

/// The core of each slot, in the order of the cores; at least as many slots as ranks. The first n slots are the block
/// placement of n ranks, so filling the slots in this order is the launcher's default placement. When cores are shared,
/// a core has as many slots as the default placement gives it ranks. O(slots).
inline std::vector<Core> slots_in_core_order(const MapProblem& problem) {
  std::uint64_t capacity = 0;
  for (const Core core : problem.topology.cores()) capacity += problem.topology.capacity(core);
  const std::uint32_t ranks = problem.graph.rank_count();
  if (ranks > capacity) return block_placement(ranks, problem.topology, problem.capacities);
  std::vector<Core> slots;
  slots.reserve(capacity);
  for (const Core core : problem.topology.cores()) {
    slots.insert(slots.end(), std::min(problem.capacities[core], problem.topology.capacity(core)), core);
  }
  return slots;
}

}  // namespace rankloom
