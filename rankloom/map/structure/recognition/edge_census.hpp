// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: counts the edges of a graph by their direction in a grid, and verifies that they fit.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/structure/recognition/adjacency_view.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

/// The geometry of a grid: cells and their coordinates.
class GridCells {
 public:
  using Coordinates = std::array<std::uint32_t, max_axes>;

  explicit GridCells(const Grid& grid);

  std::size_t axes() const { return axes_; }
  std::uint32_t extent(std::size_t axis) const { return extent_[axis]; }
  bool wraps(std::size_t axis) const { return wraps_[axis]; }
  Coordinates coordinates(std::uint32_t cell) const;
  std::uint32_t cell(const Coordinates& at) const;
  /// The direction from one cell to another as a number in base 3, one digit per axis, 1 for no step; -1 if the cells
  /// are not adjacent.
  int direction(const Coordinates& from, const Coordinates& to) const;
  /// The number of cells adjacent to this one along an axis.
  std::uint32_t axis_neighbours(const Coordinates& at) const;
  /// Whether the cell is not on the boundary of the grid. Then the difference of two cell numbers gives the direction.
  bool is_interior(const Coordinates& at) const;
  /// The steps on each axis of a direction that is given as a number in base 3.
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

/// Counts of the edges of some ranks.
struct EdgeCensus {
  struct Tally {
    std::uint64_t edges = 0;
    double bytes = 0;
    double squares = 0;
  };
  std::vector<Tally> by_direction;
  std::uint64_t edges = 0;            ///< Both directions of a pair counted, also below.
  std::uint64_t irregular_edges = 0;  ///< Between cells that are not adjacent.
  double irregular_bytes = 0;
  std::uint64_t axis_edges = 0;           ///< Between cells that are adjacent along an axis.
  std::uint64_t expected_axis_edges = 0;  ///< The number of such edges in a complete grid.

  EdgeCensus& operator+=(const EdgeCensus& other);
  /// Whether few edges are irregular and few are missing.
  bool fits() const;
};

/// Counts the edges of the given ranks. O(their edges).
template <class Id>
EdgeCensus edge_census(const AdjacencyView<Id>& adjacency, const Grid& grid, std::span<const std::uint32_t> ranks);

/// Counts the edges of all ranks in parallel; the same for any number of threads.
template <class Id>
EdgeCensus edge_census(const AdjacencyView<Id>& adjacency, const Grid& grid);

/// The grid with the bytes of its directions, if fits() holds for all edges and for every axis; otherwise nothing.
template <class Id>
std::optional<Grid> verify_grid(const AdjacencyView<Id>& adjacency, Grid grid);

}  // namespace rankloom
