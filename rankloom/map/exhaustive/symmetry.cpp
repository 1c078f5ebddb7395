// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: which parts of a machine are alike.
#include "rankloom/map/exhaustive/symmetry.hpp"

#include <limits>

namespace rankloom {
namespace {

/// The cores of one object.
struct Range {
  std::uint32_t first, size;
  Core operator[](std::uint32_t at) const { return Core{first + at}; }
  bool holds(Core core) const { return index(core) >= first && index(core) < first + size; }
};

Range range_of(const Topology& topology, std::size_t level, std::uint32_t object) {
  const std::uint32_t first = index(topology.first_core(level, object));
  return {first, index(topology.first_core(level, object + 1)) - first};
}

bool alike(const Topology& topology, Range a, Range b, const std::function<bool(Core, Core)>& same_core,
           const std::function<bool(Core, Core, Core, Core)>& same_pair) {
  if (a.size != b.size) return false;
  const auto exchanged = [&](Core core) {
    if (a.holds(core)) return b[index(core) - a.first];
    return b.holds(core) ? a[index(core) - b.first] : core;
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

Symmetry::Symmetry(const Topology& topology, std::size_t highest, const std::function<bool(Core, Core)>& same_core,
                   const std::function<bool(Core, Core, Core, Core)>& same_pair) {
  for (std::size_t level = highest; level < topology.levels().size(); ++level) {
    Level found;
    std::vector<Range> firsts;  // of each class
    const auto objects = static_cast<std::uint32_t>(topology.levels()[level].objects);
    for (std::uint32_t object = 0; object < objects; ++object) {
      const Range range = range_of(topology, level, object);
      std::uint32_t which = 0;
      while (which < firsts.size() && !alike(topology, firsts[which], range, same_core, same_pair)) ++which;
      if (which == firsts.size()) firsts.push_back(range);
      found.class_of.push_back(which);
      found.object_of.insert(found.object_of.end(), range.size, object);
    }
    found.classes = static_cast<std::uint32_t>(firsts.size());
    if (found.classes < objects) levels_.push_back(std::move(found));
  }
}

void Symmetry::representatives(const std::vector<std::uint32_t>& occupants,
                               std::vector<bool>& is_representative) const {
  constexpr auto none = std::numeric_limits<std::uint32_t>::max();
  is_representative.assign(occupants.size(), true);
  for (const Level& level : levels_) {
    std::vector<bool> empty(level.class_of.size(), true);
    for (std::size_t core = 0; core < occupants.size(); ++core) {
      if (occupants[core] > 0) empty[level.object_of[core]] = false;
    }
    std::vector<std::uint32_t> first_empty(level.classes, none);
    for (std::uint32_t object = 0; object < empty.size(); ++object) {
      if (empty[object] && first_empty[level.class_of[object]] == none) first_empty[level.class_of[object]] = object;
    }
    for (std::size_t core = 0; core < occupants.size(); ++core) {
      const std::uint32_t object = level.object_of[core];
      if (empty[object] && first_empty[level.class_of[object]] != object) is_representative[core] = false;
    }
  }
}

}  // namespace rankloom
