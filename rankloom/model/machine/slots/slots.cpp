// SPDX-License-Identifier: Apache-2.0
// model/machine/slots: slots of one shape.
#include "rankloom/model/machine/slots/slots.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "rankloom/model/machine/slots/gpu_slots.hpp"
#include "rankloom/model/machine/slots/slot_cutter.hpp"

namespace rankloom {

std::size_t core_level(const Topology& topology) {
  const auto levels = topology.levels();
  const std::size_t last = levels.size() - 1;
  if (topology.is_matrix() || (levels[last].kind != "pu" && levels[last].kind != "thread")) return last;
  // Caches of single hardware threads may be between them and their core.
  for (std::size_t level = last; level-- > topology.node_level();)
    if (levels[level].kind == "core") return level;
  return last;
}

bool has_hardware_threads(const Topology& topology) {
  return core_level(topology) + 1 < topology.levels().size();
}

std::size_t memory_level(const Topology& topology) {
  const auto levels = topology.levels();
  std::size_t found = topology.node_level();
  for (std::size_t level = found; level < levels.size(); ++level)
    if (levels[level].kind == "numa" || (levels[level].kind == "package" && levels[found].kind != "numa"))
      found = level;
  return found;
}

std::uint32_t cores_of_one_memory(const Topology& topology, std::uint32_t ranks, SlotShape shape) {
  const std::vector<std::size_t> sizes = SlotCutter(topology, shape).sizes(memory_level(topology));
  if (sizes.empty() || shape.cores > *std::max_element(sizes.begin(), sizes.end())) return shape.cores;
  for (std::uint32_t cores = shape.cores; cores > 0; --cores) {
    std::size_t slots = 0;
    for (const std::size_t size : sizes) slots += size / cores;
    if (slots >= ranks) return cores;
  }
  return 0;
}

void Slots::append(std::span<const Core> leaves, std::span<const std::uint32_t> gpus) {
  leaves_.insert(leaves_.end(), leaves.begin(), leaves.end());
  ends_.push_back(static_cast<std::uint32_t>(leaves_.size()));
  gpus_.insert(gpus_.end(), gpus.begin(), gpus.end());
  gpus_per_slot_ = static_cast<std::uint32_t>(gpus.size());
}

Result<Slots> Slots::cut(const Topology& topology, std::uint32_t ranks, SlotShape shape) {
  Slots slots;
  const bool threads = has_hardware_threads(topology);
  if (shape.cores == 1 && !threads && shape.gpus == 0) return slots;
  if (topology.is_matrix()) {
    return fail(Code::usage, at("--cores-per-rank"), "a distance matrix has no cores that could form a slot",
                "leave it out, or give a machine with levels");
  }
  SlotCutter cutter(topology, shape);
  // More ranks than cores: every hardware thread is a slot, unless the user asks for whole cores. A core may also have
  // one hardware thread only.
  const bool few_cores = shape == SlotShape{} && ranks > cutter.core_count();
  const bool one_leaf_each = shape.cores == 1 && cutter.core_count() == topology.core_count();
  if (few_cores || (one_leaf_each && shape.gpus == 0)) return slots;
  const std::vector<std::size_t> nodes = cutter.sizes(topology.node_level());
  const std::size_t largest = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
  if (shape.cores > largest) {
    return fail(Code::infeasible, at("--cores-per-rank"),
                fmt::format("a rank of {} cores does not fit on a node of {}", shape.cores, largest),
                "give each rank fewer cores");
  }
  slots = cutter.cut(ranks);
  if (shape.gpus == 0) return slots;
  GpuSlots chosen = choose_gpu_slots(topology, slots, ranks, shape);
  if (chosen.near < ranks) {  // as many slots as possible near GPUs, even if they contain cores of two caches
    const Slots all = cutter.cut(std::numeric_limits<std::uint32_t>::max());
    GpuSlots more = choose_gpu_slots(topology, all, ranks, shape);
    const auto suitable = [&](const GpuSlots& some) {
      return std::tuple(std::min<std::size_t>(some.slots.count(), ranks), std::min<std::size_t>(some.near, ranks));
    };
    if (suitable(more) > suitable(chosen)) chosen = std::move(more);
  }
  if (chosen.slots.count() > 0) return std::move(chosen.slots);
  return fail(Code::infeasible, at("--gpus-per-rank"), fmt::format("no node of the machine has {} GPUs", shape.gpus),
              "give a machine with its GPUs, as `rankloom topo discover` finds it, or \"node:4 gpu:4 core:16\"");
}

}  // namespace rankloom
