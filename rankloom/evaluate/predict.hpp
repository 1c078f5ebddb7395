// SPDX-License-Identifier: Apache-2.0
// evaluate: an analytic prediction of the communication time of a placement, without simulation.
#pragma once

#include <span>
#include <vector>

#include "rankloom/evaluate/simulate/platform.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

struct Prediction {
  double seconds = 0;                ///< Until the last rank has sent and received all messages.
  std::vector<double> rank_seconds;  ///< By rank.
  Channel busiest = 0;               ///< The channel that needs the longest time for its traffic.
  double busiest_seconds = 0;        ///< That time.
};

/// The time of a rank is the sum of the latencies of its messages plus the time of its slowest transfer: bytes x
/// inverse bandwidth of the pair, or the time that a channel on the route needs for the traffic of all ranks. This is
/// Hockney's model, with the largest channel load of a fluid network as an additional limit. The order of messages and
/// waiting times are not modelled. O(edges x route length), deterministic.
Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of);

}  // namespace rankloom
