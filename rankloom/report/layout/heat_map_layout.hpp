// SPDX-License-Identifier: Apache-2.0
// report/layout: in which order ranks stand in a heat map, where one node ends and the next begins, and what a cell
// shows. The terminal, SVG files and the page in the browser draw the same.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Rows and columns of a heat map: ranks in the order of their cores.
struct HeatOrder {
  std::string id;                      ///< "before", "after"
  std::vector<std::uint32_t> ranks;    ///< Row i shows this rank.
  std::vector<std::uint32_t> borders;  ///< Rows in which a node begins; empty: not shown.
  std::vector<std::string> nodes;      ///< Their names.
};

/// O(n log n). Of ranks on one core the lower comes first.
HeatOrder heat_order(std::string id, const Topology& topology, std::span<const Core> core_of);

/// Bytes for each pair of ranks of a cell; row of the sender times `cells` plus column of the receiver. What ranks send
/// to themselves is left out.
struct HeatCells {
  std::size_t cells = 0;
  std::vector<double> density;
  double most = 0;

  /// From 1, the most, to 0, a ten thousandth of it and less, by the logarithm; negative: nothing.
  double shade(std::size_t row, std::size_t column) const;
};

/// Neighbours in the order share a row when there are more than `cells`. An empty order is that of the ranks' numbers.
/// O(edges + cells²).
HeatCells heat_cells(const CommGraph& graph, std::span<const std::uint32_t> order, std::size_t cells);

/// The first place of the order that row `row` of `cells` shows.
inline std::size_t first_in_row(std::size_t row, std::size_t ranks, std::size_t cells) {
  return (row * ranks + cells - 1) / cells;
}

}  // namespace rankloom
