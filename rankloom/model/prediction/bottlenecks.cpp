// SPDX-License-Identifier: Apache-2.0
// model/prediction: what limits the predicted time of a placement, in words.
#include "rankloom/model/prediction/bottlenecks.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

std::vector<Bottleneck> bottlenecks(const Prediction& prediction, const Platform& platform) {
  std::vector<Bottleneck> result;
  for (const BusyChannel& busy : prediction.busiest)
    result.push_back({platform.name(busy.channel), busy.bytes, busy.seconds});
  const PairTime& transfer = prediction.longest_transfer;
  if (transfer.seconds > (result.empty() ? 0 : result.front().seconds)) {
    result.push_back({fmt::format("transfer from rank {} to rank {}", index(transfer.from), index(transfer.to)),
                      transfer.bytes, transfer.seconds});
  }
  const PairTime& latency = prediction.longest_latency;
  if (latency.seconds > 0) {
    result.push_back(
        {fmt::format("latency between ranks {} and {}", index(latency.from), index(latency.to)), 0, latency.seconds});
  }
  std::stable_sort(result.begin(), result.end(),
                   [](const Bottleneck& a, const Bottleneck& b) { return a.seconds > b.seconds; });
  return result;
}

std::string first_bottleneck(std::span<const Bottleneck> bottlenecks) {
  if (bottlenecks.empty()) return "none";
  const Bottleneck& first = bottlenecks.front();
  if (first.bytes == 0) return fmt::format("{}: {}", first.name, format_seconds(first.seconds));
  return fmt::format("{}: {} in {}", first.name, format_bytes(first.bytes), format_seconds(first.seconds));
}

std::string bottleneck_sentence(std::span<const Bottleneck> bottlenecks) {
  std::string text = first_bottleneck(bottlenecks);
  if (bottlenecks.size() > 1)
    text += fmt::format("; next: {}: {}", bottlenecks[1].name, format_seconds(bottlenecks[1].seconds));
  return text;
}

PredictedTime predict_time(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  const Prediction prediction = predict(graph, platform, core_of);
  return {prediction.seconds, bottlenecks(prediction, platform)};
}

}  // namespace rankloom
