// SPDX-License-Identifier: Apache-2.0
// model/cost: the load of network links and of cores under a placement.
#pragma once

#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The bytes on each directed link of the network. O(edges x route length).
std::vector<double> link_loads(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);

/// How evenly the loads of the ranks are distributed over the cores.
struct LoadBalance {
  double heaviest_core = 0;  ///< The largest sum of loads on one core.
  /// No placement has a smaller heaviest_core: the larger of the average core load and the largest rank load.
  double lower_bound = 0;
  double imbalance() const { return lower_bound > 0 ? heaviest_core / lower_bound - 1 : 0; }
};

/// The average is over all cores that may be used. O(ranks + cores).
LoadBalance load_balance(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);

}  // namespace rankloom
