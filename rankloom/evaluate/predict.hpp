// SPDX-License-Identifier: Apache-2.0
// evaluate: how long a program communicates under a placement, by arithmetic alone: no events, no simulator.
#pragma once

#include <span>
#include <vector>

#include "rankloom/evaluate/simulate/platform.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

struct Prediction {
  double seconds = 0;                ///< Until the last rank has sent and received everything.
  std::vector<double> rank_seconds;  ///< For each rank.
  Wire busiest = 0;                  ///< The wire that takes longest to pass on all that it has to,
  double busiest_seconds = 0;        ///< and how long.
};

/// A rank's messages wait for each other (Σ messages·latency) and for the slowest thing on their ways: the message's
/// own rate (bytes·gap of the pair), or a wire that passes on everything that all ranks send over it (load·gap of the
/// wire). That is Hockney's latency and gap with the largest link load of a fluid network in the place of the gap
/// alone. What it leaves out: who waits for whom, and when. O(edges x route), deterministic.
Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of);

}  // namespace rankloom
