// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: symmetries of the machine and of the program.
#include "rankloom/map/exhaustive/symmetry.hpp"

#include <limits>

namespace rankloom {
namespace {

/// The cores of one object.
struct Range {
  std::uint32_t first, size;
  Core operator[](std::uint32_t at) const { return Core{first + at}; }
  bool contains(Core core) const { return index(core) >= first && index(core) < first + size; }
};

Range range_of(const Topology& topology, std::size_t level, std::uint32_t object) {
  const std::uint32_t first = index(topology.first_core(level, object));
  return {first, index(topology.first_core(level, object + 1)) - first};
}

bool are_symmetric(const Topology& topology, Range a, Range b, const std::function<bool(Core, Core)>& same_core,
                   const std::function<bool(Core, Core, Core, Core)>& same_pair) {
  if (a.size != b.size) return false;
  const auto exchanged = [&](Core core) {
    if (a.contains(core)) return b[index(core) - a.first];
    return b.contains(core) ? a[index(core) - b.first] : core;
  };
  for (std::uint32_t at = 0; at < a.size; ++at) {
    if (!same_core(a[at], b[at])) return false;
    for (const Core other : topology.cores()) {
      if (!same_pair(a[at], other, b[at], exchanged(other)) || !same_pair(other, a[at], exchanged(other), b[at]) ||
          !same_pair(b[at], other, a[at], exchanged(other)) || !same_pair(other, b[at], exchanged(other), a[at])) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace

MachineSymmetry::MachineSymmetry(const Topology& topology, std::size_t highest,
                                 const std::function<bool(Core, Core)>& same_core,
                                 const std::function<bool(Core, Core, Core, Core)>& same_pair) {
  for (std::size_t level = highest; level < topology.levels().size(); ++level) {
    Level symmetric_level;
    std::vector<Range> representatives;  // the first object of each class
    const auto objects = static_cast<std::uint32_t>(topology.levels()[level].objects);
    for (std::uint32_t object = 0; object < objects; ++object) {
      const Range range = range_of(topology, level, object);
      std::uint32_t number = 0;
      while (number < representatives.size() &&
             !are_symmetric(topology, representatives[number], range, same_core, same_pair)) {
        ++number;
      }
      if (number == representatives.size()) representatives.push_back(range);
      symmetric_level.class_of.push_back(number);
      symmetric_level.object_of.insert(symmetric_level.object_of.end(), range.size, object);
    }
    symmetric_level.classes = static_cast<std::uint32_t>(representatives.size());
    if (symmetric_level.classes < objects) levels_.push_back(std::move(symmetric_level));
  }
}

void MachineSymmetry::representatives(const std::vector<std::uint32_t>& occupants,
                                      std::vector<bool>& is_representative) const {
  constexpr auto nothing = std::numeric_limits<std::uint32_t>::max();
  is_representative.assign(occupants.size(), true);
  for (const Level& level : levels_) {
    std::vector<bool> empty(level.class_of.size(), true);
    for (std::size_t core = 0; core < occupants.size(); ++core) {
      if (occupants[core] > 0) empty[level.object_of[core]] = false;
    }
    std::vector<std::uint32_t> first_empty(level.classes, nothing);
    for (std::uint32_t object = 0; object < empty.size(); ++object) {
      if (empty[object] && first_empty[level.class_of[object]] == nothing) first_empty[level.class_of[object]] = object;
    }
    for (std::size_t core = 0; core < occupants.size(); ++core) {
      const std::uint32_t object = level.object_of[core];
      if (empty[object] && first_empty[level.class_of[object]] != object) is_representative[core] = false;
    }
  }
}

namespace {

using Index = std::uint32_t;

bool same_flow(const DenseQap& problem, Index i, Index j, Index k, Index l) {
  return problem.bytes(i, j) == problem.bytes(k, l) && problem.messages(i, j) == problem.messages(k, l);
}

/// Exchanging the two tasks does not change the traffic.
bool are_interchangeable(const DenseQap& problem, Index a, Index b) {
  if (!same_flow(problem, a, b, b, a) || !same_flow(problem, a, a, b, b)) return false;
  for (Index other = 0; other < problem.tasks(); ++other) {
    if (other == a || other == b) continue;
    if (!same_flow(problem, a, other, b, other) || !same_flow(problem, other, a, other, b)) return false;
  }
  return true;
}

}  // namespace

TaskSymmetry::TaskSymmetry(const DenseQap& problem) : cores_(problem.cores()), interchangeable_with_(problem.tasks()) {
  bool any = false;
  for (Index a = 0; a < problem.tasks(); ++a) {
    for (Index b = 0; b < problem.tasks(); ++b) {
      if (a == b || !are_interchangeable(problem, a, b)) continue;
      interchangeable_with_[a].push_back(b);
      any = true;
    }
  }
  if (any) explored_.resize(std::size_t{problem.tasks()} * cores_, 0);
}

void TaskSymmetry::count(Index task, Index core, int step) {
  for (const Index other : interchangeable_with_[task]) explored_[other * cores_ + core] += step;
}

}  // namespace rankloom
