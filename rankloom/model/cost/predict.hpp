// SPDX-License-Identifier: Apache-2.0
// model/cost: an analytic prediction of the communication time of a placement, without simulation.
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

struct Prediction {
  double seconds = 0;                ///< Until the last rank has sent and received all messages.
  std::vector<double> rank_seconds;  ///< By rank.
  Channel busiest = 0;               ///< The channel that needs the longest time for its traffic.
  double busiest_seconds = 0;        ///< That time.
};

/// The time of a rank is that of its latencies plus that of its slowest transfer. A rank exchanges messages with all of
/// its partners at once, and the messages of one partner one after another: the latencies are those of the partner for
/// which messages x latency is largest; a pair has at least one message. The time of a transfer is bytes x inverse
/// bandwidth of the pair, or the time that a channel on the route needs for the traffic of all ranks. This is Hockney's
/// model, with the largest channel load of a fluid network as an additional limit. O(edges x route length),
/// deterministic.
Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of);

}  // namespace rankloom
