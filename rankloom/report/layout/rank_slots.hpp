// SPDX-License-Identifier: Apache-2.0
// report/layout: the slots of the ranks of a placement, which pictures of the machine show.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The slot of every rank, if a rank occupies more than one leaf of the machine or uses GPUs; empty otherwise.
struct RankSlots {
  std::vector<std::uint32_t> slot_of;  ///< By rank; ranks may share a slot.
  std::vector<std::uint32_t> ends;     ///< By slot: the end of its leaves in `leaves`.
  std::vector<Core> leaves;
  std::vector<std::uint32_t> gpu_ends;  ///< By slot: the end of its GPUs in `gpus`; empty: no rank uses GPUs.
  std::vector<std::uint32_t> gpus;      ///< The numbers of the GPUs on their nodes, one slot after the other.

  bool empty() const { return slot_of.empty(); }
  /// The leaves of a slot, in ascending order.
  std::span<const Core> leaves_of(std::uint32_t slot) const {
    const std::uint32_t begin = slot == 0 ? 0 : ends[slot - 1];
    return std::span(leaves).subspan(begin, ends[slot] - begin);
  }
  /// The numbers of the GPUs of a slot on its node, in ascending order.
  std::span<const std::uint32_t> gpus_of(std::uint32_t slot) const {
    if (gpu_ends.empty()) return {};
    const std::uint32_t begin = slot == 0 ? 0 : gpu_ends[slot - 1];
    return std::span(gpus).subspan(begin, gpu_ends[slot] - begin);
  }
};

/// What the launcher's files give to each rank of the placement. Empty if a rank is on a core where no slot of its
/// shape begins, as --oversubscribe allows. O(cores).
RankSlots rank_slots(std::span<const Core> core_of, const Topology& topology, const SlotShapes& shapes);

}  // namespace rankloom
