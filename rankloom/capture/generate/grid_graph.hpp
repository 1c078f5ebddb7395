// SPDX-License-Identifier: Apache-2.0
// capture/generate: the communication graph of neighbours on a grid, for stencils, meshes and sweeps.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rankloom/capture/generate/support.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// A set of dimensions, one bit each: bit d for dimension d of GridExtents.
using Dimensions = std::uint32_t;

/// What a rank sends to a neighbour, by the set of dimensions in which their coordinates differ by one.
struct GridTraffic {
  GridExtents extents = {1, 1, 1};
  std::array<bool, 3> periodic = {};    ///< The dimension wraps around; no effect for extent 1.
  std::array<bool, 8> neighbours = {};  ///< By set of dimensions; false for the empty set.
  std::array<double, 8> bytes = {};     ///< By set of dimensions, sum of all messages.
  double messages = 1;                  ///< To each neighbour.
  bool directed = false;                ///< Each direction carries the bytes; otherwise half of them.
};

/// O(edges) time, in parallel, with no memory other than the graph. Two ranks that are neighbours in both directions
/// (periodic dimension of extent 2) exchange twice as much.
Result<CommGraph> grid_graph(const GridTraffic& traffic, std::string_view pattern);

}  // namespace rankloom
