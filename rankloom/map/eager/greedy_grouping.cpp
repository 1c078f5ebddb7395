// SPDX-License-Identifier: Apache-2.0
// map/eager: EagerMap's greedy grouping for one level of the machine.
#include "rankloom/map/eager/greedy_grouping.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace rankloom {
namespace {

/// Larger than the relative rounding error of a sum of loads.
constexpr double rounding = 1e-12;

/// The state of Algorithm 6 between groups: the load of the elements that are in no group.
class RemainingLoad {
 public:
  explicit RemainingLoad(std::span<const double> loads) : loads_(loads) {
    for (const double load : loads) {
      sum_ += load;
      loaded_elements_ += load > 0 ? 1 : 0;
    }
  }

  /// Algorithm 7: a group grows to `share` of the remaining load, with a size between the bounds.
  void grow_group(GreedyGrouping& grouping, double share, std::uint64_t min_size, std::uint64_t max_size) {
    const double threshold = sum_ * share * (1 - rounding);
    double group_load = 0;
    for (std::uint64_t size = 0; size < max_size && (size < min_size || group_load < threshold); ++size) {
      const double load = loads_[grouping.add_next()];
      group_load += load;
      loaded_elements_ -= load > 0 ? 1 : 0;
    }
    sum_ = loaded_elements_ > 0 ? sum_ - group_load : 0;
    grouping.close();
  }

  bool is_zero() const { return loaded_elements_ == 0; }

 private:
  std::span<const double> loads_;
  double sum_ = 0;
  std::uint64_t loaded_elements_ = 0;
};

std::uint64_t excess_over(std::uint64_t count, std::uint64_t capacity) {
  return count > capacity ? count - capacity : 0;
}

}  // namespace

GreedyGrouping::GreedyGrouping(const Affinity& affinity, std::uint64_t typical_size)
    : affinity_(affinity), with_heap_(typical_size > max_size_without_heap), weight_(affinity.size(), 0.0) {
  groups_.members.reserve(affinity.size());
}

std::uint32_t GreedyGrouping::add_next() {
  assert(free_elements() > 0);
  const bool first_of_group = groups_.members.size() == groups_.ends.back();
  // The weights of a member are added only when the next one is needed: the last member of a group needs no update.
  if (!first_of_group) add_weights_of(groups_.members.back());
  std::uint32_t next = first_of_group ? none : pop_heaviest();
  if (next == none) next = first_free();
  weight_[next] = chosen;
  groups_.members.push_back(next);
  return next;
}

void GreedyGrouping::close() {
  groups_.close();
  for (const std::uint32_t element : weighted_) {
    if (weight_[element] != chosen) weight_[element] = 0;
  }
  weighted_.clear();
  heap_.clear();
}

void GreedyGrouping::add_weights_of(std::uint32_t member) {
  const auto neighbours = affinity_.neighbours(member);
  const auto weights = affinity_.weights(member);
  for (std::size_t at = 0; at < neighbours.size(); ++at) {
    double& weight = weight_[neighbours[at]];
    if (weight == chosen) continue;
    if (weight == 0) weighted_.push_back(neighbours[at]);
    weight += weights[at];
    if (!with_heap_) continue;
    heap_.push_back({weight, neighbours[at]});
    std::push_heap(heap_.begin(), heap_.end());
  }
}

std::uint32_t GreedyGrouping::pop_heaviest() {
  if (with_heap_) {
    while (!heap_.empty()) {
      const WeightedElement top = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      if (weight_[top.element] == top.weight) return top.element;
    }
    return none;
  }
  if (weighted_.empty()) return none;
  std::size_t best = 0;
  WeightedElement heaviest{weight_[weighted_[0]], weighted_[0]};
  for (std::size_t at = 1; at < weighted_.size(); ++at) {
    const WeightedElement candidate{weight_[weighted_[at]], weighted_[at]};
    if (!(heaviest < candidate)) continue;
    heaviest = candidate;
    best = at;
  }
  weighted_[best] = weighted_.back();
  weighted_.pop_back();
  return heaviest.element;
}

std::uint32_t GreedyGrouping::first_free() {
  while (weight_[first_] == chosen) ++first_;
  return first_;
}

Groups generate_groups_for_level(const Affinity& affinity, std::uint32_t max_groups) {
  const std::uint32_t elements = affinity.size();
  const std::uint32_t count = std::min(elements, max_groups);
  Groups groups;
  if (count == elements) {  // every element is a group
    groups.members.resize(elements);
    std::iota(groups.members.begin(), groups.members.end(), 0);
    groups.ends.resize(elements + std::size_t{1});
    std::iota(groups.ends.begin(), groups.ends.end(), 0);
    return groups;
  }
  const std::uint32_t size = elements / count;
  const std::uint32_t larger_groups = elements % count;
  GreedyGrouping grouping(affinity, size);
  for (std::uint32_t group = 0; group < count; ++group) {
    for (std::uint32_t at = 0; at < size + (group < larger_groups ? 1 : 0); ++at) grouping.add_next();
    grouping.close();
  }
  return std::move(grouping).groups();
}

Groups generate_groups_by_load(const Affinity& affinity, std::span<const double> loads, std::uint32_t max_groups,
                               std::uint64_t max_size) {
  GreedyGrouping grouping(affinity, affinity.size() / max_groups);
  RemainingLoad remaining_load(loads);
  for (std::uint64_t groups = max_groups; grouping.free_elements() > 0; --groups) {
    const std::uint64_t elements = grouping.free_elements();
    const std::uint64_t by_number = remaining_load.is_zero() ? (elements + groups - 1) / groups : 1;
    const std::uint64_t min_size = std::max(by_number, excess_over(elements, (groups - 1) * max_size));
    remaining_load.grow_group(grouping, 1 / static_cast<double>(groups), min_size, std::min(elements, max_size));
  }
  return std::move(grouping).groups();
}

Groups generate_groups_of_sizes(const Affinity& affinity, std::span<const std::uint32_t> sizes) {
  GreedyGrouping grouping(affinity, sizes.empty() ? 0 : affinity.size() / sizes.size());
  for (const std::uint32_t size : sizes) {
    for (std::uint32_t at = 0; at < size; ++at) grouping.add_next();
    grouping.close();
  }
  return std::move(grouping).groups();
}

std::vector<std::uint32_t> proportional_sizes(std::uint32_t elements, std::span<const MachineShare> machines) {
  std::vector<std::uint32_t> sizes(machines.size(), 0);
  std::vector<std::size_t> open;  // machines whose capacity exceeds their share of the remaining elements
  std::uint64_t units = 0;
  for (std::size_t at = 0; at < machines.size(); ++at) {
    if (machines[at].capacity > 0) open.push_back(at);
    units += machines[at].capacity > 0 ? machines[at].units : 0;
  }
  // A machine whose share exceeds its capacity is filled; the other machines share the remaining elements.
  std::uint64_t remaining = elements;
  for (bool filled = true; filled;) {
    const std::uint64_t before = remaining, units_before = units;
    std::erase_if(open, [&](std::size_t at) {
      if (before * machines[at].units <= machines[at].capacity * units_before) return false;
      sizes[at] = static_cast<std::uint32_t>(machines[at].capacity);
      remaining -= machines[at].capacity;
      units -= machines[at].units;
      return true;
    });
    filled = remaining != before;
  }
  std::uint64_t assigned = 0;
  for (const std::size_t at : open) {
    sizes[at] = static_cast<std::uint32_t>(remaining * machines[at].units / units);
    assigned += sizes[at];
  }
  std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
    return remaining * machines[a].units % units > remaining * machines[b].units % units;
  });
  for (std::size_t at = 0; assigned < remaining; ++at, ++assigned) ++sizes[open[at]];
  return sizes;
}

Groups generate_groups_by_load(const Affinity& affinity, std::span<const double> loads,
                               std::span<const MachineShare> machines) {
  GreedyGrouping grouping(affinity, machines.empty() ? 0 : affinity.size() / machines.size());
  RemainingLoad remaining_load(loads);
  std::uint64_t units = 0, capacity = 0;  // of this machine and those after it
  for (const MachineShare& machine : machines) {
    units += machine.capacity > 0 ? machine.units : 0;
    capacity += machine.capacity;
  }
  for (const MachineShare& machine : machines) {
    if (machine.capacity == 0) {
      grouping.close();
      continue;
    }
    const std::uint64_t elements = grouping.free_elements();
    capacity -= machine.capacity;
    const std::uint64_t by_number = remaining_load.is_zero() ? (elements * machine.units + units - 1) / units : 0;
    const std::uint64_t min_size = std::max(std::min(by_number, machine.capacity), excess_over(elements, capacity));
    remaining_load.grow_group(grouping, static_cast<double>(machine.units) / static_cast<double>(units), min_size,
                              std::min(elements, machine.capacity));
    units -= machine.units;
  }
  return std::move(grouping).groups();
}

}  // namespace rankloom
