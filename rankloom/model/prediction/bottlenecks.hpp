// SPDX-License-Identifier: Apache-2.0
// model/prediction: what limits the predicted time of a placement, in words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

struct Bottleneck {
  std::string name;    ///< "node 3's card, out", "latency between ranks 1 and 5"
  double bytes = 0;    ///< 0 for latencies.
  double seconds = 0;  ///< Which it takes alone.
};

/// The busiest channel of each kind, the largest latency of a pair, and the longest transfer of a pair if it takes
/// longer than any channel needs; the longest time first.
std::vector<Bottleneck> bottlenecks(const Prediction& prediction, const Platform& platform);

/// "node 3's card, out: 1.2 GB in 400 ms"; "none" without bottlenecks.
std::string first_bottleneck(std::span<const Bottleneck> bottlenecks);
/// The same with the second one: "…; next: uplink of switch 0, in: 300 ms".
std::string bottleneck_sentence(std::span<const Bottleneck> bottlenecks);

/// The predicted time, and why it is not shorter.
struct PredictedTime {
  double seconds = 0;
  std::vector<Bottleneck> bottlenecks;
};
PredictedTime predict_time(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of);

}  // namespace rankloom
