// SPDX-License-Identifier: Apache-2.0
// model/prediction: a prediction of the communication time of a placement by a simulation of all messages as flows.
#pragma once

#include <limits>
#include <optional>
#include <span>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

/// Whether the program is small enough: a simulation then takes some milliseconds, rarely more than a tenth of a
/// second.
bool is_predicted_by_flows(const CommGraph& graph);

/// Seconds until the last rank has exchanged all messages. Simulates up to four rounds of the program
/// (exchange_rounds.hpp). In a round, every rank posts the messages of a step, waits for all of them, and goes on. A
/// message starts when both ranks have posted it, waits for its latency, and then gets its share of every channel on
/// its route: weighted max-min fairness (Bertsekas, Gallager 1992) with the weights of SimGrid's model CM02 (Velho,
/// Legrand 2009). Other than SimGrid, changes within a thousandth of the time happen at once. The time of the run is
/// that of these rounds, multiplied; the time of several phases is the sum of their times. Nothing if the program is
/// too large. Deterministic. O(messages x channels of a route) for each of about 500 moments in a round. Ends early
/// with an infinite time if that is above `limit`.
std::optional<double> predict_by_flows(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of,
                                       double limit = std::numeric_limits<double>::infinity());

}  // namespace rankloom
