// SPDX-License-Identifier: Apache-2.0
// capture: graphs of neighbours on a grid, made straight into rows: what stencils, meshes and sweeps are.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// A set of dimensions, one bit each: bit d for dimension d of Extents.
using Dimensions = std::uint32_t;

/// What a rank on the grid sends to a neighbour, by the set of dimensions in which the two differ by one.
struct GridTraffic {
  Extents extents = {1, 1, 1};
  std::array<bool, 3> periodic = {};    ///< The last neighbours the first. Nothing to a dimension of extent 1.
  std::array<bool, 8> neighbours = {};  ///< By set of dimensions; the empty set is never sent to.
  std::array<double, 8> bytes = {};     ///< By set of dimensions, of all messages together.
  double messages = 1;                  ///< To each neighbour.
  bool directed = false;                ///< Each direction carries the bytes; otherwise both together do.
};

/// O(edges) time, parallel; no memory but the graph. Two ranks that are neighbours both ways round (periodic, extent 2)
/// exchange twice as much.
Result<CommGraph> grid_graph(const GridTraffic& traffic, std::string_view pattern);

}  // namespace rankloom
