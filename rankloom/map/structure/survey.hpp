// SPDX-License-Identifier: Apache-2.0
// map/structure: does every edge of a graph fit into a grid, and what does each direction carry?
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/links.hpp"

namespace rankloom {

/// Cells of a grid by their numbers on the axes.
class Cells {
 public:
  using Place = std::array<std::uint32_t, max_axes>;

  explicit Cells(const Grid& grid);

  std::size_t axes() const { return axes_; }
  std::uint32_t extent(std::size_t axis) const { return extent_[axis]; }
  bool wraps(std::size_t axis) const { return wraps_[axis]; }
  Place place(std::uint32_t cell) const;
  std::uint32_t cell(const Place& place) const;
  /// The direction from one place to another as a number in base 3, a digit for each axis, 1 for no step; -1 when they
  /// are not next to each other.
  int direction(const Place& from, const Place& to) const;
  /// How many cells lie next to this one along an axis.
  std::uint32_t faces(const Place& place) const;
  /// No side of the grid is near: a direction is known by the difference of the cells' numbers.
  bool inside(const Place& place) const;
  /// Of a step that is given as a number in base 3.
  AxisSteps steps(int direction) const;
  int direction_count() const { return direction_count_; }
  std::uint64_t stride(std::size_t axis) const { return stride_[axis]; }

 private:
  std::size_t axes_;
  int direction_count_ = 1;
  std::array<std::uint32_t, max_axes> extent_{};
  std::array<std::uint64_t, max_axes> stride_{};
  std::array<bool, max_axes> wraps_{};
};

/// What was found in the edges of some ranks.
struct Survey {
  struct Tally {
    std::uint64_t edges = 0;
    double bytes = 0;
    double squares = 0;
  };
  std::vector<Tally> by_direction;
  std::uint64_t edges = 0;      ///< Both directions of a pair counted, as below.
  std::uint64_t odd_edges = 0;  ///< Between cells that are not next to each other.
  double odd_bytes = 0;
  std::uint64_t faces = 0;      ///< Between cells that are next to each other along an axis.
  std::uint64_t faces_due = 0;  ///< So many there would be in a whole grid.

  Survey& operator+=(const Survey& other);
  /// Few odd edges, and few missing ones.
  bool fits() const;
};

/// Of the ranks given. O(their edges).
template <class Id>
Survey survey(const Links<Id>& links, const Grid& grid, std::span<const std::uint32_t> ranks);

/// Of all ranks, in parallel; the same for any number of threads.
template <class Id>
Survey survey(const Links<Id>& links, const Grid& grid);

/// The grid with what its directions carry, if every edge, or nearly, fits; fits() of the whole and of each axis.
template <class Id>
std::optional<Grid> confirmed(const Links<Id>& links, Grid grid);

}  // namespace rankloom
