// SPDX-License-Identifier: Apache-2.0
// report/layout: the slots of the ranks of a placement.
#include "rankloom/report/layout/rank_slots.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/place/deployment.hpp"

namespace rankloom {

RankSlots rank_slots(std::span<const Core> core_of, const Topology& topology, const SlotShapes& shapes) {
  RankSlots slots;
  if (topology.is_matrix() || (shapes == SlotShapes{} && !has_hardware_threads(topology))) return slots;
  auto deployed = deploy(core_of, topology, {}, shapes);
  if (!deployed) return slots;
  const bool single_leaves = std::all_of(deployed->bindings.begin(), deployed->bindings.end(),
                                         [](const Binding& binding) { return binding.end - binding.begin == 1; });
  const bool gpus = !deployed->gpu_numbers.empty();
  if (single_leaves && !gpus) return slots;
  // The leaves of the slots are in the order of the first ranks of the slots.
  std::vector<std::uint32_t> slot_at(deployed->leaves.size());  // by the position of its first leaf
  slots.slot_of.reserve(core_of.size());
  for (const Rank rank : deployed->ranks()) {
    const Binding& binding = deployed->bindings[rank];
    const bool is_new = slots.ends.empty() || binding.begin == slots.ends.back();
    if (is_new) {
      slot_at[binding.begin] = static_cast<std::uint32_t>(slots.ends.size());
      slots.ends.push_back(binding.end);
      if (gpus) slots.gpu_ends.push_back(binding.first_gpu + static_cast<std::uint32_t>(deployed->gpus(rank).size()));
    }
    slots.slot_of.push_back(slot_at[binding.begin]);
  }
  slots.leaves = std::move(deployed->leaves);
  slots.gpus = std::move(deployed->gpu_numbers);
  return slots;
}

}  // namespace rankloom
