// SPDX-License-Identifier: Apache-2.0
// map/machine: children, slots and symmetry of the parts of a machine.
#include "rankloom/map/machine/machine_tree.hpp"

#include <algorithm>

namespace rankloom {

MachineTree::MachineTree(const Topology& topology, const Capacities& capacities)
    : topology_(&topology), capacities_(&capacities) {
  const auto differs = [&](Core core) { return capacities[core] != capacities[Core{0}]; };
  if (std::none_of(topology.cores().begin(), topology.cores().end(), differs)) return;
  slots_before_.reserve(topology.core_count() + std::size_t{1});
  slots_before_.push_back(0);
  for (const Core core : topology.cores()) slots_before_.push_back(slots_before_.back() + capacities[core]);
}

MachineTree::Part MachineTree::part(std::uint32_t begin, std::uint32_t end, std::size_t level) const {
  const std::size_t levels = topology_->levels().size();
  if (end - begin == 1) return {begin, end, levels};
  while (topology_->object_of(level, Core{begin}) == topology_->object_of(level, Core{end - 1})) ++level;
  return {begin, end, level};
}

std::vector<MachineTree::Part> MachineTree::children(const Part& parent) const {
  std::vector<Part> parts;
  if (parent.is_core()) return parts;
  const std::size_t level = parent.next_level;
  const std::uint32_t last = topology_->object_of(level, Core{parent.end - 1});
  for (std::uint32_t object = topology_->object_of(level, Core{parent.begin}); object <= last; ++object) {
    parts.push_back(
        part(index(topology_->first_core(level, object)), index(topology_->first_core(level, object + 1)), level + 1));
  }
  return parts;
}

std::uint64_t MachineTree::slots(const Part& part) const {
  if (slots_before_.empty()) return std::uint64_t{part.core_count()} * (*capacities_)[Core{0}];
  return slots_before_[part.end] - slots_before_[part.begin];
}

bool MachineTree::symmetric(const Part& part) const {
  if (part.is_core()) return true;
  const std::uint64_t capacity = (*capacities_)[Core{part.begin}];
  for (std::uint32_t core = part.begin; core < part.end; ++core) {
    if ((*capacities_)[Core{core}] != capacity) return false;
  }
  // Every level divides the range into equal parts.
  for (std::size_t level = part.next_level; level + 1 < topology_->levels().size(); ++level) {
    const std::uint32_t first = topology_->object_of(level, Core{part.begin});
    const std::uint32_t last = topology_->object_of(level, Core{part.end - 1});
    const std::uint64_t objects = std::uint64_t{last} - first + 1;
    if (part.core_count() % objects != 0) return false;
    const auto width = static_cast<std::uint32_t>(part.core_count() / objects);
    for (std::uint32_t object = first; object <= last; ++object) {
      if (index(topology_->first_core(level, object)) != part.begin + (object - first) * width) return false;
    }
  }
  return true;
}

std::vector<std::uint32_t> MachineTree::arities(const Part& part) const {
  std::vector<std::uint32_t> arities;
  for (Part current = part; !current.is_core();) {
    const auto below = children(current);
    arities.push_back(static_cast<std::uint32_t>(below.size()));
    current = below.front();
  }
  return arities;
}

}  // namespace rankloom
