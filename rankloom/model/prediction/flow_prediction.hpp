// SPDX-License-Identifier: Apache-2.0
// model/prediction: a prediction of the communication time of a placement by a simulation of all messages as flows.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

/// How many rounds of the program (exchange_rounds.hpp) a simulation runs; 0 if the program is too large. It then takes
/// some milliseconds, rarely more than a tenth of a second.
std::uint32_t rounds_predicted_by_flows(const CommGraph& graph);

/// The largest of these numbers.
inline constexpr std::uint32_t max_rounds_predicted_by_flows = 4;

struct FlowPredictionOptions {
  /// The simulation ends early with an infinite time if that is above this one.
  double limit = std::numeric_limits<double>::infinity();
  /// Programs with fewer rounds repeat theirs: the time is the mean of several rounds in succession, in which ranks
  /// that are early delay others.
  bool repeats = false;
};

/// Seconds until the last rank has exchanged all messages. Simulates up to four rounds of the program. In a round,
/// every rank posts the messages of a step, waits for all of them, and goes on. A message starts when both ranks have
/// posted it, waits for its latency, and then gets its share of every channel on its route: weighted max-min fairness
/// (Bertsekas, Gallager 1992) with the weights of SimGrid's model CM02 (Velho, Legrand 2009). Other than SimGrid,
/// changes within a thousandth of the time happen at once. The time of the run is that of these rounds, multiplied; the
/// time of several phases is the sum of their times. Nothing if the program is too large. Deterministic. O(messages x
/// channels of a route) for each of about 500 moments in a round.
std::optional<double> predict_by_flows(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of,
                                       const FlowPredictionOptions& options = {});

}  // namespace rankloom
