// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: regions of a grid, cut level by level; serpentine orders.
#include "rankloom/map/structure/tiling/region_cutter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/locality_order.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

class RegionCutter {
 public:
  RegionCutter(const OccupiedSlots& slots, const BoundaryTraffic& traffic, CutPlan& plan, const Box& base_tile,
               const TopCut& top)
      : slots_(slots), traffic_(traffic), plan_(plan), base_tile_(base_tile), top_(top) {
    for (std::size_t axis = 0; axis < traffic.axes(); ++axis) {
      count_[axis] = traffic.extent(axis) / base_tile[axis];
      cells_per_tile_ *= base_tile[axis];
      first_bit_[axis + 1] = first_bit_[axis] + std::bit_width(count_[axis]);
    }
  }

  std::vector<std::uint32_t> run() {
    std::vector<Tile> tiles(traffic_.cells() / cells_per_tile_);
    parallel_chunks(tiles.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t number = begin; number < end; ++number) tiles[number] = tile(number);
    });
    group_of_.resize(tiles.size());
    assign(slots_.tree().root(), tiles, grid_sides(traffic_), 0);
    return std::move(group_of_);
  }

 private:
  /// The coordinates of a tile in the grid of tiles, side by side: at most 2^32 tiles have fewer than 39 bits.
  using Tile = std::uint64_t;

  void assign(const Part& part, std::span<Tile> tiles, const Sides<double>& sides, std::size_t level) {
    const auto parts = slots_.used_children(part);
    if (tiles.size() == 1 || parts.empty()) {
      auto group = static_cast<std::uint32_t>(slots_.first_slot(part) / cells_per_tile_);
      for (const Tile tile : tiles) group_of_[number(tile)] = group++;
    } else if (parts.size() == 1) {
      assign(parts.front(), tiles, sides, level);
    } else if (has_network(slots_.tree(), part)) {
      halve(locality_order(slots_.tree().topology(), parts), tiles, sides, level);
    } else {
      const double pieces = level == 0 ? top_.pieces : static_cast<double>(parts.size());
      const auto choices = plan_.choices(std::min(level, plan_.level_count() - 1), pieces, sides);
      const SlabCuts cuts = choices.empty() ? SlabCuts{} : choices[level == 0 ? top_.choice : 0].cuts;
      split(parts, cuts, 0, tiles, sides, level);
    }
  }

  void split(std::span<const Part> parts, const SlabCuts& cuts, std::size_t at, std::span<Tile> tiles,
             const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return assign(parts.front(), tiles, sides, level + 1);
    const bool last = at + 1 >= cuts.axes;
    const std::size_t axis = at < cuts.axes ? cuts.axis[at] : cuts.axis[0];
    const std::size_t slabs = last ? parts.size() : std::min<std::size_t>(cuts.slabs[at], parts.size());
    sort_along(axis, tiles, sides);
    std::size_t begin = 0;
    for (std::size_t slab = 0; slab < slabs; ++slab) {
      const std::size_t from = parts.size() * slab / slabs, to = parts.size() * (slab + 1) / slabs;
      const auto inside = parts.subspan(from, to - from);
      const std::size_t count = tiles_for(inside);
      split(inside, cuts, at + 1, tiles.subspan(begin, count), scale_side(sides, axis, count, tiles.size()), level);
      begin += count;
    }
  }

  /// Recursive halving across the axis with the least crossing traffic: the parts of each half are close to each other.
  void halve(std::span<const Part> parts, std::span<Tile> tiles, const Sides<double>& sides, std::size_t level) {
    if (parts.size() == 1) return assign(parts.front(), tiles, sides, level + 1);
    std::size_t best = 0;
    double min_bytes = std::numeric_limits<double>::infinity();
    for (std::size_t axis = 0; axis < traffic_.axes(); ++axis) {
      if (sides[axis] <= base_tile_[axis]) continue;
      const double bytes = traffic_.crossing_bytes(scale_side(sides, axis, 1, 2));
      if (bytes < min_bytes) best = axis, min_bytes = bytes;
    }
    sort_along(best, tiles, sides);
    const auto first = parts.first(parts.size() / 2);
    const std::size_t count = tiles_for(first);
    halve(first, tiles.first(count), scale_side(sides, best, count, tiles.size()), level);
    halve(parts.subspan(first.size()), tiles.subspan(count),
          scale_side(sides, best, tiles.size() - count, tiles.size()), level);
  }

  std::size_t tiles_for(std::span<const Part> parts) const {
    std::size_t slots = 0;
    for (const Part& part : parts) slots += slots_.slots_in(part);
    return slots / cells_per_tile_;
  }

  static Sides<double> scale_side(Sides<double> sides, std::size_t axis, std::size_t part, std::size_t total) {
    sides[axis] *= static_cast<double>(part) / static_cast<double>(total);
    return sides;
  }

  /// Sorts plane by plane across the axis, each plane in rows along its shortest side, so that a cut inside a plane is
  /// short.
  void sort_along(std::size_t axis, std::span<Tile> tiles, const Sides<double>& sides) const {
    std::vector<std::size_t> order{axis};
    for (std::size_t other = 0; other < traffic_.axes(); ++other) {
      if (other != axis) order.push_back(other);
    }
    std::stable_sort(order.begin() + 1, order.end(), [&](std::size_t a, std::size_t b) { return sides[a] > sides[b]; });
    sort_by_keys(tiles, KeyInBox(*this, tiles, order));
  }

  Tile tile(std::size_t number) const {
    Tile tile = 0;
    for (std::size_t axis = traffic_.axes(); axis-- > 0; number /= count_[axis])
      tile |= Tile{number % count_[axis]} << first_bit_[axis];
    return tile;
  }
  std::uint32_t number(Tile tile) const {
    std::uint32_t number = 0;
    for (std::size_t axis = 0; axis < traffic_.axes(); ++axis) number = number * count_[axis] + coordinate(tile, axis);
    return number;
  }
  std::uint32_t coordinate(Tile tile, std::size_t axis) const {
    const Tile mask = (Tile{1} << (first_bit_[axis + 1] - first_bit_[axis])) - 1;
    return static_cast<std::uint32_t>(tile >> first_bit_[axis] & mask);
  }

  /// The number of a tile in the smallest box around all given ones, with the axes in this order.
  class KeyInBox {
   public:
    KeyInBox(const RegionCutter& cutter, std::span<const Tile> tiles, std::vector<std::size_t> order)
        : cutter_(cutter), order_(std::move(order)) {
      const auto bounds = parallel_sum<Bounds>(tiles.size(), [&](std::size_t begin, std::size_t end) {
        Bounds part;
        for (const Tile tile : tiles.subspan(begin, end - begin)) {
          for (const std::size_t axis : order_) part.include(axis, cutter.coordinate(tile, axis));
        }
        return part;
      });
      for (const std::size_t axis : order_) {
        lowest_[axis] = bounds.lowest[axis];
        extent_[axis] = bounds.highest[axis] - bounds.lowest[axis] + 1;
        volume_ *= extent_[axis];
      }
    }

    std::uint64_t operator()(Tile tile) const {
      std::uint64_t key = 0;
      for (const std::size_t axis : order_)
        key = key * extent_[axis] + (cutter_.coordinate(tile, axis) - lowest_[axis]);
      return key;
    }
    std::uint64_t volume() const { return volume_; }

   private:
    struct Bounds {
      std::array<std::uint32_t, max_axes> lowest, highest{};
      Bounds() { lowest.fill(std::numeric_limits<std::uint32_t>::max()); }
      void include(std::size_t axis, std::uint32_t coordinate) {
        lowest[axis] = std::min(lowest[axis], coordinate);
        highest[axis] = std::max(highest[axis], coordinate);
      }
      Bounds& operator+=(const Bounds& other) {
        for (std::size_t axis = 0; axis < max_axes; ++axis) {
          lowest[axis] = std::min(lowest[axis], other.lowest[axis]);
          highest[axis] = std::max(highest[axis], other.highest[axis]);
        }
        return *this;
      }
    };

    const RegionCutter& cutter_;
    std::vector<std::size_t> order_;
    std::array<std::uint32_t, max_axes> lowest_{}, extent_{};
    std::uint64_t volume_ = 1;
  };

  /// Regions nearly fill their boxes: each tile is written to its place in the box, then the gaps are closed.
  static void sort_by_keys(std::span<Tile> tiles, const KeyInBox& key) {
    constexpr Tile gap = std::numeric_limits<Tile>::max();
    constexpr std::uint64_t max_volume_per_tile = 4;
    if (key.volume() > max_volume_per_tile * tiles.size()) {
      std::sort(tiles.begin(), tiles.end(), [&](Tile a, Tile b) { return key(a) < key(b); });
      return;
    }
    std::vector<Tile> box(key.volume(), gap);
    parallel_chunks(tiles.size(), [&](std::size_t begin, std::size_t end) {
      for (const Tile tile : tiles.subspan(begin, end - begin)) box[key(tile)] = tile;
    });
    std::copy_if(box.begin(), box.end(), tiles.begin(), [](Tile tile) { return tile != gap; });
  }

  const OccupiedSlots& slots_;
  const BoundaryTraffic& traffic_;
  CutPlan& plan_;
  Box base_tile_;
  TopCut top_;
  Box count_ = unit_box();
  std::array<int, max_axes + 1> first_bit_{};
  std::size_t cells_per_tile_ = 1;
  std::vector<std::uint32_t> group_of_;
};

}  // namespace

Sides<double> grid_sides(const BoundaryTraffic& traffic) {
  Sides<double> sides;
  for (std::size_t axis = 0; axis < max_axes; ++axis) sides[axis] = traffic.extent(axis);
  return sides;
}

std::vector<std::uint32_t> cut_into_regions(const OccupiedSlots& slots, const BoundaryTraffic& traffic, CutPlan& plan,
                                            const Box& base_tile, const TopCut& top) {
  return RegionCutter(slots, traffic, plan, base_tile, top).run();
}

std::vector<std::uint32_t> serpentine_order(const BoundaryTraffic& traffic, const Box& base_tile,
                                            std::span<const std::size_t> order) {
  Box count = unit_box();
  std::size_t tiles = 1;
  for (std::size_t axis = 0; axis < traffic.axes(); ++axis) {
    count[axis] = traffic.extent(axis) / base_tile[axis];
    tiles *= count[axis];
  }
  std::vector<std::uint32_t> group_of(tiles);
  for (std::uint32_t at = 0; at < tiles; ++at) {
    Box coordinates{};
    std::uint32_t rest = at;
    for (std::size_t axis = traffic.axes(); axis-- > 0; rest /= count[axis]) coordinates[axis] = rest % count[axis];
    std::uint32_t group = 0;
    for (const std::size_t axis : order) {
      // So far `group` is the number of the row; odd rows run backwards.
      group = group * count[axis] + (group % 2 == 0 ? coordinates[axis] : count[axis] - 1 - coordinates[axis]);
    }
    group_of[at] = group;
  }
  return group_of;
}

}  // namespace rankloom
