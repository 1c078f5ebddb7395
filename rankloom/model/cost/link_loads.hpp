// SPDX-License-Identifier: Apache-2.0
// model: bytes on every link of the network under a placement; what the congestion model and reports look at.
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Bytes that pass each directed link. O(edges x route).
std::vector<double> link_loads(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);

}  // namespace rankloom
