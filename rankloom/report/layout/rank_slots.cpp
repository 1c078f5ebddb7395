// SPDX-License-Identifier: Apache-2.0
// report/layout: the slots of the ranks of a placement.
#include "rankloom/report/layout/rank_slots.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/place/deployment.hpp"

namespace rankloom {

RankSlots rank_slots(std::span<const Core> core_of, const Topology& topology, SlotShape shape) {
  RankSlots slots;
  if (topology.is_matrix() || (shape == SlotShape{} && !has_hardware_threads(topology))) return slots;
  auto deployed = deploy(core_of, topology, {}, shape);
  if (!deployed) return slots;
  const bool single_leaves = std::all_of(deployed->bindings.begin(), deployed->bindings.end(),
                                         [](const Binding& binding) { return binding.end - binding.begin == 1; });
  if (single_leaves && shape.gpus == 0) return slots;
  // The leaves of the slots are in the order of the first ranks of the slots.
  std::vector<std::uint32_t> slot_at(deployed->leaves.size());  // by the position of its first leaf
  slots.slot_of.reserve(core_of.size());
  for (const Binding& binding : deployed->bindings) {
    const bool is_new = slots.ends.empty() || binding.begin == slots.ends.back();
    if (is_new) {
      slot_at[binding.begin] = static_cast<std::uint32_t>(slots.ends.size());
      slots.ends.push_back(binding.end);
    }
    slots.slot_of.push_back(slot_at[binding.begin]);
  }
  slots.leaves = std::move(deployed->leaves);
  slots.gpus_per_slot = shape.gpus;
  slots.gpus = std::move(deployed->gpu_numbers);
  return slots;
}

}  // namespace rankloom
