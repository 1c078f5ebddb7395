// SPDX-License-Identifier: Apache-2.0
// model/prediction: an analytic prediction of the communication time of a placement, without simulation.
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

/// Callers do not predict the times of graphs with more edges, unless asked to: it takes minutes.
inline constexpr EdgeIndex many_edges = 20'000'000;

/// A channel and its traffic.
struct BusyChannel {
  Channel channel = 0;
  double bytes = 0;
  double seconds = 0;  ///< Which the channel needs for them.
};

/// A pair of ranks, and how long its messages take if no others are sent.
struct PairTime {
  Rank from{}, to{};
  double bytes = 0;
  double seconds = 0;
};

struct Prediction {
  double seconds = 0;                ///< Until the last rank has sent and received all messages.
  std::vector<double> rank_seconds;  ///< By rank.
  // With several phases, those of the longest phase.
  std::vector<BusyChannel> busiest;  ///< Of each kind of channels with traffic, the longest time first.
  PairTime longest_transfer;         ///< By bytes x inverse bandwidth.
  PairTime longest_latency;          ///< By messages x latency.
};

/// The time of a rank is that of its latencies plus that of its slowest transfer. A rank exchanges messages with all of
/// its partners at once, and the messages of one partner one after another: the latencies are those of the partner for
/// which messages x latency is largest; a pair has at least one message. The time of a transfer is bytes x inverse
/// bandwidth of the pair, or the time that a channel on the route needs for the traffic of all ranks. This is Hockney's
/// model, with the largest channel load of a fluid network as an additional limit. The time of several phases is the
/// sum of their times; in each, the collectives with two levels are added as this placement makes them. O(edges x route
/// length), deterministic.
Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of);

}  // namespace rankloom
