// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: the cost of dividing a grid into boxes, and the best hierarchies of equal boxes.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

/// The lengths of the sides of a box in cells; 1 beyond the axes of the grid.
template <class T>
using Sides = std::array<T, max_axes>;
using Box = Sides<std::uint32_t>;

constexpr Box unit_box() {
  Box box;
  box.fill(1);
  return box;
}

/// A level of the machine: how many of its objects one object above contains, and the cost of a byte between two of
/// them.
struct BoxLevel {
  std::uint32_t arity;
  double distance;
};

/// The traffic that crosses the boundaries of boxes.
class BoundaryTraffic {
 public:
  explicit BoundaryTraffic(const Grid& grid);

  std::size_t axes() const { return axes_; }
  std::uint32_t extent(std::size_t axis) const { return extent_[axis]; }
  std::uint64_t cells() const { return cells_; }
  /// Bytes between cells of different boxes if the whole grid is divided into boxes of this size: exact if the sides
  /// divide the extents of the grid, an estimate otherwise.
  double crossing_bytes(const Sides<double>& sides) const;
  double crossing_bytes(const Box& box) const;
  /// An estimate of the least of these bytes for boxes of this many cells, whose sides need not be whole numbers.
  double min_crossing_bytes(double cells_per_box) const;
  /// The mean of the bytes between two adjacent cells on this axis.
  double axis_bytes(std::size_t axis) const { return axis_bytes_[axis]; }

 private:
  std::size_t axes_;
  std::uint64_t cells_ = 1;
  std::array<double, max_axes> length_{};
  Box extent_ = unit_box();
  std::array<bool, max_axes> wraps_{};
  std::array<double, max_axes> axis_bytes_{};
  std::vector<Grid::Direction> directions_;
};

/// All hierarchies of equal boxes, bottom up: the box of an object consists of equal boxes of the objects below it.
class EvenTilings {
 public:
  /// Levels bottom up. Dynamic programming over boxes; O(boxes x factorisations of an arity), both small.
  EvenTilings(const BoundaryTraffic& traffic, std::span<const BoxLevel> levels);

  /// The best hierarchy inside a box.
  struct Entry {
    double cost;  ///< Of the traffic that stays inside boxes of this size, summed over all boxes of the grid.
    Box below;    ///< The boxes of the next lower level.
  };
  /// For each number of levels, 0 first: all possible boxes.
  std::span<const std::map<Box, Entry>> by_level() const { return by_level_; }
  /// The boxes of all levels inside a box of `levels` levels, the smallest first and the box itself last.
  std::vector<Box> chain(std::size_t levels, Box box) const;

 private:
  std::vector<std::map<Box, Entry>> by_level_;
};

/// For each cell of a box (row major) its slot, 0..cells-1, if each level of the chain fills its boxes one after
/// another.
std::vector<std::uint32_t> slot_order_in_box(std::span<const Box> chain, std::size_t axes);

}  // namespace rankloom
