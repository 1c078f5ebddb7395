// SPDX-License-Identifier: Apache-2.0
// map/structure: regions of a grid, cut level by level.
#include "rankloom/map/structure/cutter.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/near_order.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

class Cutter {
 public:
  Cutter(const Occupancy& occupancy, const Walls& walls, CutPlan& plan, const Box& grain, const TopCut& top)
      : occupancy_(occupancy), walls_(walls), plan_(plan), grain_(grain), top_(top) {
    for (std::size_t axis = 0; axis < walls.axes(); ++axis) {
      count_[axis] = walls.extent(axis) / grain[axis];
      grain_cells_ *= grain[axis];
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<Keyed> grains(walls_.cells() / grain_cells_);
    for (std::uint32_t at = 0; at < grains.size(); ++at) grains[at].grain = at;
    group_of_.resize(grains.size());
    give(occupancy_.tree().root(), grains, whole_grid(walls_), 0);
    return std::move(group_of_);
  }

 private:
  struct Keyed {
    std::uint64_t key;
    std::uint32_t grain;
  };

  void give(const Part& part, std::span<Keyed> grains, const Sides<double>& sides, std::size_t level) {
    const auto parts = occupancy_.used_children(part);
    if (grains.size() == 1 || parts.empty()) {
      auto group = static_cast<std::uint32_t>(occupancy_.first_seat(part) / grain_cells_);
      for (const Keyed& keyed : grains) group_of_[keyed.grain] = group++;
    } else if (parts.size() == 1) {
      give(parts.front(), grains, sides, level);
    } else if (has_network(occupancy_.tree(), part)) {
      halve(near_order(occupancy_.tree().topology(), parts), grains, sides, level);
    } else {
      const double pieces = level == 0 ? top_.pieces : static_cast<double>(parts.size());
      const auto choices = plan_.choices(std::min(level, plan_.level_count() - 1), pieces, sides);
      const Cuts cuts = choices.empty() ? Cuts{} : choices[level == 0 ? top_.choice : 0].cuts;
      split(parts, cuts, 0, grains, sides, level);
    }
  }

  void split(std::span<const Part> parts, const Cuts& cuts, std::size_t at, std::span<Keyed> grains,
             const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return give(parts.front(), grains, sides, level + 1);
    const bool last = at + 1 >= cuts.axes;
    const std::size_t axis = at < cuts.axes ? cuts.axis[at] : cuts.axis[0];
    const std::size_t slabs = last ? parts.size() : std::min<std::size_t>(cuts.slabs[at], parts.size());
    sort_along(axis, grains, sides);
    std::size_t begin = 0;
    for (std::size_t slab = 0; slab < slabs; ++slab) {
      const std::size_t from = parts.size() * slab / slabs, to = parts.size() * (slab + 1) / slabs;
      const auto inside = parts.subspan(from, to - from);
      const std::size_t count = grains_for(inside);
      split(inside, cuts, at + 1, grains.subspan(begin, count), part_of_side(sides, axis, count, grains.size()), level);
      begin += count;
    }
  }

  /// Across the axis where least is cut, again and again: halves of the list are near each other.
  void halve(std::span<const Part> parts, std::span<Keyed> grains, const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return give(parts.front(), grains, sides, level + 1);
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < walls_.axes(); ++axis) {
      if (sides[axis] <= grain_[axis]) continue;
      const double crossing = walls_.crossing(part_of_side(sides, axis, 1, 2));
      if (crossing < least) best = axis, least = crossing;
    }
    sort_along(best, grains, sides);
    const auto first = parts.first(parts.size() / 2);
    const std::size_t count = grains_for(first);
    halve(first, grains.first(count), part_of_side(sides, best, count, grains.size()), level);
    halve(parts.subspan(first.size()), grains.subspan(count),
          part_of_side(sides, best, grains.size() - count, grains.size()), level);
  }

  std::size_t grains_for(std::span<const Part> parts) const {
    std::size_t seats = 0;
    for (const Part& part : parts) seats += occupancy_.seats_in(part);
    return seats / grain_cells_;
  }

  static Sides<double> part_of_side(Sides<double> sides, std::size_t axis, std::size_t part, std::size_t whole) {
    sides[axis] *= static_cast<double>(part) / static_cast<double>(whole);
    return sides;
  }

  /// Plane after plane across the axis, each in rows along its shortest side, so that a cut inside a plane is short.
  void sort_along(std::size_t axis, std::span<Keyed> grains, const Sides<double>& sides) const {
    std::vector<std::size_t> order{axis};
    for (std::size_t other = 0; other < walls_.axes(); ++other) {
      if (other != axis) order.push_back(other);
    }
    std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) { return sides[a] > sides[b]; });
    parallel_chunks(grains.size(), [&](std::size_t begin, std::size_t end) {
      for (Keyed& keyed : grains.subspan(begin, end - begin)) {
        std::array<std::uint32_t, max_axes> place{};
        std::uint32_t left = keyed.grain;
        for (std::size_t at = walls_.axes(); at-- > 0; left /= count_[at]) place[at] = left % count_[at];
        keyed.key = 0;
        for (const std::size_t at : order) keyed.key = keyed.key * count_[at] + place[at];
      }
    });
    std::sort(grains.begin(), grains.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
  }

  const Occupancy& occupancy_;
  const Walls& walls_;
  CutPlan& plan_;
  Box grain_;
  TopCut top_;
  Box count_ = unit_box();
  std::size_t grain_cells_ = 1;
  std::vector<std::uint32_t> group_of_;
};

}  // namespace

Sides<double> whole_grid(const Walls& walls) {
  Sides<double> sides;
  for (std::size_t axis = 0; axis < max_axes; ++axis) sides[axis] = walls.extent(axis);
  return sides;
}

std::vector<std::uint32_t> cut_to_size(const Occupancy& occupancy, const Walls& walls, CutPlan& plan, const Box& grain,
                                       const TopCut& top) {
  return Cutter(occupancy, walls, plan, grain, top).run();
}

std::vector<std::uint32_t> swept(const Walls& walls, const Box& grain, std::span<const std::size_t> order) {
  Box count = unit_box();
  std::size_t grains = 1;
  for (std::size_t axis = 0; axis < walls.axes(); ++axis) {
    count[axis] = walls.extent(axis) / grain[axis];
    grains *= count[axis];
  }
  std::vector<std::uint32_t> group_of(grains);
  for (std::uint32_t at = 0; at < grains; ++at) {
    Box place{};
    std::uint32_t left = at;
    for (std::size_t axis = walls.axes(); axis-- > 0; left /= count[axis]) place[axis] = left % count[axis];
    std::uint32_t group = 0;
    for (const std::size_t axis : order) {
      // So far the group is the number of the row: its parity tells which way the row is walked.
      group = group * count[axis] + (group % 2 == 0 ? place[axis] : count[axis] - 1 - place[axis]);
    }
    group_of[at] = group;
  }
  return group_of;
}

}  // namespace rankloom
