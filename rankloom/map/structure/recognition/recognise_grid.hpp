// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: regular patterns that are recognised from the traffic alone, for any numbering of the
// ranks.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// More than four, because a periodic axis of four cells may be recognised as two axes of two cells, which is the same
/// ring.
inline constexpr std::size_t max_axes = 6;
using AxisSteps = std::array<std::int8_t, max_axes>;

/// The ranks form a grid or a torus: each communicates with adjacent cells, along an axis or across a corner.
struct Grid {
  /// All pairs of cells that differ by one step on some of the axes.
  struct Direction {
    AxisSteps step;  ///< -1, 0 or 1 on each axis; the first entry that is not 0 is 1.
    double bytes;    ///< Sum over all pairs, both directions.
  };

  std::vector<std::uint32_t> extent;   ///< Cells on each axis, at least 2; one rank per cell.
  std::vector<bool> wraps;             ///< Periodic axes: the last cell is adjacent to the first; 3 cells or more.
  std::vector<std::uint32_t> cell_of;  ///< Rank → cell, the last axis fastest; empty: rank r is in cell r.
  std::vector<Direction> directions;   ///< The directions with traffic.
  double variation = 0;  ///< Coefficient of variation of the bytes of an edge within its direction; 0: all alike.
  bool exact = true;     ///< All edges are between adjacent cells, and all neighbours along an axis have an edge.
  /// Every direction with traffic has an edge for nearly every pair of its cells, and none across a corner carries more
  /// than one along the axes that it crosses, so boxes of the grid keep the most bytes inside. On axes of two cells,
  /// every cell is adjacent to every other: any other traffic fits there, too.
  bool stencil = true;
  /// An exact stencil with all edges, and with the same bytes on all edges of a direction.
  bool regular = true;

  std::uint32_t cell_count() const;
  /// Whether ranks communicate across corners.
  bool has_corner_edges() const;
  std::uint32_t cell(std::uint32_t rank) const { return cell_of.empty() ? rank : cell_of[rank]; }
};

/// Finds 1 to 6 axes, each open or periodic, for any numbering of the ranks. The result is verified against every edge.
/// Up to 5 % of the edges along an axis may be missing; in row-major order, up to 2 % of all edges may also be
/// irregular. O(edges) time. Row-major order: parallel, no additional memory. Any other order: 8 bytes per rank and
/// axis and 13 more per rank. A graph that is not a grid is usually rejected after a few hundred ranks.
std::optional<Grid> recognise_grid(const Affinity& affinity);
/// The same without a copy of the edges, for graphs in which every edge has a reverse edge; others are rejected.
std::optional<Grid> recognise_grid(const CommGraph& graph);

/// Whether every rank sends the same to every other rank. If the ranks fill all slots of the machine, all placements of
/// a uniform all-to-all cost the same. O(edges), O(1) for nearly all other graphs.
bool is_uniform_all_to_all(const CommGraph& graph);

}  // namespace rankloom
