// SPDX-License-Identifier: Apache-2.0
// map/structure: regular patterns that are seen in the traffic alone, whatever the names of the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// A side of four that wraps may be found as two sides of two, which is the same ring: hence more than four.
inline constexpr std::size_t max_axes = 6;
using AxisSteps = std::array<std::int8_t, max_axes>;

/// The ranks form a grid or a torus: everyone talks to cells next to its own, along an axis or across a corner.
struct Grid {
  /// All pairs of cells that lie apart by one step on some of the axes.
  struct Direction {
    AxisSteps step;  ///< -1, 0 or 1 on each axis; the first that is not 0 is 1.
    double bytes;    ///< Between all its pairs together, both ways.
  };

  std::vector<std::uint32_t> extent;       ///< Cells on each axis, at least 2; one rank a cell.
  std::vector<bool> wraps;                 ///< The last cell of the axis is next to the first; only from 3 cells on.
  std::vector<std::uint32_t> position_of;  ///< Rank → cell, the last axis fastest; empty: rank r sits in cell r.
  std::vector<Direction> directions;       ///< Those with traffic.
  double spread = 0;  ///< How far bytes stray from the mean of their direction, as a share of it: 0 when all are alike.
  bool exact = true;  ///< No pair talks that should not, and every two neighbours along an axis do.

  std::uint32_t cell_count() const;
  std::uint32_t position(std::uint32_t rank) const { return position_of.empty() ? rank : position_of[rank]; }
};

/// Finds 1 to 6 axes, each open or wrapping, in any order of the ranks. What is returned was checked against every
/// edge: where the ranks are in the grid's own order, up to 2 % of the edges may be odd, and 5 % of those along an axis
/// missing. O(edges), parallel where the ranks are in order; otherwise 25 to 50 bytes a rank. A graph that is no grid
/// is refused after a few hundred ranks, as a rule.
std::optional<Grid> recognised_grid(const Affinity& affinity);
/// The same without a copy of the edges, for programs in which everybody is answered; others are refused.
std::optional<Grid> recognised_grid(const CommGraph& graph);

/// Everyone sends the same to everyone: where ranks take all places of the machine, all placements cost the same.
/// O(edges), O(1) for nearly all other graphs.
bool is_uniform_all_to_all(const CommGraph& graph);

}  // namespace rankloom
