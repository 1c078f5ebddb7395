// SPDX-License-Identifier: Apache-2.0
// report/layout: heat maps: the order of the ranks, the borders between nodes, the values of the cells. The terminal,
// SVG files and the web page draw the same layout.
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
  std::vector<std::uint32_t> borders;  ///< First rows of the nodes; empty: not shown.
  std::vector<std::string> nodes;      ///< Their names.
};

/// O(n log n). Ranks on one core are in numerical order.
HeatOrder heat_order(std::string id, const Topology& topology, std::span<const Core> core_of);

/// Bytes per pair of ranks in each cell; the index is row of the sender times `cells` plus column of the receiver.
/// Messages of a rank to itself are ignored.
struct HeatCells {
  std::size_t cells = 0;
  std::vector<double> density;
  double most = 0;

  /// From 1, the maximum, to 0, a ten-thousandth of it or less, on a logarithmic scale; negative: no traffic.
  double shade(std::size_t row, std::size_t column) const;
};

/// Consecutive ranks share a row when there are more than `cells`. An empty order means numerical order.
/// O(edges + cells²).
HeatCells heat_cells(const CommGraph& graph, std::span<const std::uint32_t> order, std::size_t cells);

/// The first position of the order that row `row` of `cells` shows.
inline std::size_t first_in_row(std::size_t row, std::size_t ranks, std::size_t cells) {
  return (row * ranks + cells - 1) / cells;
}

}  // namespace rankloom
