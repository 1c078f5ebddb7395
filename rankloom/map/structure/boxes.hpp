// SPDX-License-Identifier: Apache-2.0
// map/structure: what boxes of a grid cost, and the best way to divide its sides evenly.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "rankloom/map/structure/grid.hpp"

namespace rankloom {

/// The lengths of a box's sides in cells; 1 beyond the axes of the grid.
template <class T>
using Sides = std::array<T, max_axes>;
using Box = Sides<std::uint32_t>;

constexpr Box unit_box() {
  Box box;
  box.fill(1);
  return box;
}

/// A level of the machine as boxes see it: how many of its objects lie side by side in one object above, and what a
/// byte between two of them costs.
struct BoxLevel {
  std::uint32_t arity;
  double distance;
};

/// What crosses the walls between boxes.
class Walls {
 public:
  explicit Walls(const Grid& grid);

  std::size_t axes() const { return axes_; }
  std::uint32_t extent(std::size_t axis) const { return extent_[axis]; }
  std::uint64_t cells() const { return cells_; }
  /// Bytes between cells of different boxes when all of the grid is cut into boxes of this size: exact when the sides
  /// divide the grid's, an estimate otherwise.
  double crossing(const Sides<double>& sides) const;
  double crossing(const Box& box) const;
  /// Bytes between two cells that lie side by side on this axis, on average.
  double face_bytes(std::size_t axis) const { return face_bytes_[axis]; }

 private:
  std::size_t axes_;
  std::uint64_t cells_ = 1;
  std::array<double, max_axes> length_{};
  Box extent_ = unit_box();
  std::array<bool, max_axes> wraps_{};
  std::array<double, max_axes> face_bytes_{};
  std::vector<Grid::Direction> directions_;
};

/// All boxes that levels can form, bottom up, when each level's objects form a box of the boxes below.
class EvenBoxes {
 public:
  /// Levels bottom up. O(boxes x ways to write an arity as a product), both small.
  EvenBoxes(const Walls& walls, std::span<const BoxLevel> levels);

  /// For each number of levels joined, 0 first: the boxes and what is paid below their walls, at the least.
  struct Joined {
    double cost;
    Box below;  ///< The boxes one level down that it is made of.
  };
  std::span<const std::map<Box, Joined>> by_level() const { return by_level_; }
  /// The boxes inside this one of so many levels, the smallest first and the box itself last.
  std::vector<Box> chain(std::size_t levels, Box box) const;

 private:
  std::vector<std::map<Box, Joined>> by_level_;
};

/// Where the cells of a box go: cell (row major in the box) → place, when each level of the chain fills its boxes one
/// after the other. Places 0..cells-1.
std::vector<std::uint32_t> places_in_box(std::span<const Box> chain, std::size_t axes);

}  // namespace rankloom
