// SPDX-License-Identifier: Apache-2.0
// model: how the ranks' loads are spread over the cores.
#pragma once

#include <span>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct LoadBalance {
  double heaviest_core = 0;  ///< The largest sum of the loads on one core.
  double bound = 0;  ///< No placement has a lighter heaviest core: the larger of the average and the heaviest rank.
  double imbalance() const { return bound > 0 ? heaviest_core / bound - 1 : 0; }
};

/// The average counts every core that may be used. O(ranks + cores).
LoadBalance load_balance(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of);

}  // namespace rankloom
