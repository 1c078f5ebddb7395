// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: chooses slots of cores for GPUs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "rankloom/model/machine/slots/slots.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct GpuSlots {
  Slots slots;
  std::size_t near = 0;  ///< How many of them have their GPUs in the NUMA node of their cores.
};

/// Gives slots the GPUs near them; those without GPUs are left out. The GPUs of a slot are near the same cache, NUMA
/// node or package where possible. GPUs of another NUMA node are given only if there are too few slots for all ranks
/// otherwise, and GPUs are shared only if there are too few of them. O((GPUs + slots) x levels).
GpuSlots choose_gpu_slots(const Topology& topology, const Slots& cores, std::uint32_t ranks, SlotShape shape);

}  // namespace rankloom
