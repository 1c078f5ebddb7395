// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: slots, the parts of a machine that a rank occupies: some cores of one node with their hardware
// threads, and GPUs near them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The slots of a machine for ranks of one shape. They do not overlap. A slot contains cores of two caches, NUMA nodes
/// or packages only if it is larger than each of them, or if there are too few slots for all ranks otherwise. The cores
/// of a slot with GPUs are near its GPUs, unless there are too few of them. Slots have different GPUs, unless ranks may
/// share them and there are too few.
class Slots {
 public:
  /// O(cores x levels). Fails if a rank is larger than every node.
  static Result<Slots> cut(const Topology& topology, std::uint32_t ranks, SlotShape shape);

  /// Whether every usable leaf of the machine is a slot; then the slots are not stored.
  bool are_leaves() const { return ends_.empty(); }
  std::size_t count() const { return ends_.size(); }
  /// The leaves of the machine in a slot, in ascending order; the first one identifies the slot. Slots are in the order
  /// of their first leaves.
  std::span<const Core> leaves(std::size_t slot) const {
    const std::uint32_t begin = slot == 0 ? 0 : ends_[slot - 1];
    return std::span(leaves_).subspan(begin, ends_[slot] - begin);
  }
  /// The numbers of its GPUs on its node, in ascending order; empty if a rank needs none.
  std::span<const std::uint32_t> gpus(std::size_t slot) const {
    return std::span(gpus_).subspan(slot * gpus_per_slot_, gpus_per_slot_);
  }

  /// Adds a slot after the last one. All slots have the same number of GPUs.
  void append(std::span<const Core> leaves, std::span<const std::uint32_t> gpus = {});

 private:
  std::vector<std::uint32_t> ends_;
  std::vector<Core> leaves_;
  std::vector<std::uint32_t> gpus_;
  std::uint32_t gpus_per_slot_ = 0;
};

/// The level of the cores: above the leaves if these are hardware threads, else that of the leaves.
std::size_t core_level(const Topology& topology);
bool has_hardware_threads(const Topology& topology);
/// The level of the memory inside nodes: NUMA nodes, else packages, else nodes.
std::size_t memory_level(const Topology& topology);

/// The largest number of cores per rank, at most that of the shape, with which all ranks have slots inside one NUMA
/// node (or package, see memory_level). That of the shape itself if it is larger than all of them. 0: none. O(cores).
std::uint32_t cores_of_one_memory(const Topology& topology, std::uint32_t ranks, SlotShape shape);

}  // namespace rankloom
