// SPDX-License-Identifier: Apache-2.0
// evaluate: the traffic of a placement by message size and distance.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The bytes of all pairs of ranks that are equally far apart, by their mean message size.
struct SizesAtDistance {
  /// Between nodes of a routed network: the number of hops, at most SizesAtDistance::max_hops, which stands for all
  /// more. 0: on one node, or on a machine without routes.
  std::uint32_t hops = 0;
  std::size_t level = 0;  ///< Without hops: the divergence level of the cores; one more than the last: the same core.
  std::vector<double> bytes;  ///< Entry k: mean message size from 2^k to below 2^(k+1); the first also has less.

  static constexpr std::uint32_t max_hops = 32;
  static constexpr std::size_t size_classes = 40;
};

/// All distances with traffic, the farthest first; empty if the graph does not count messages. O(edges).
std::vector<SizesAtDistance> sizes_by_distance(const CommGraph& graph, const Topology& topology,
                                               std::span<const Core> core_of);

}  // namespace rankloom
