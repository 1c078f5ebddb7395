// SPDX-License-Identifier: Apache-2.0
// model/cost: an analytic prediction of the communication time of a placement.
#include "rankloom/model/cost/predict.hpp"

#include <algorithm>
#include <cmath>

namespace rankloom {

namespace {

template <class Visit>
void for_each_edge(const CommGraph& graph, std::span<const Core> core_of, const Visit& visit) {
  for (const Rank rank : graph.ranks()) {
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      if (core_of[index(rank)] == core_of[index(targets[edge])]) continue;
      visit(rank, targets[edge], bytes[edge], std::max(graph.messages(rank, edge), 1.0));
    }
  }
}

}  // namespace

Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  std::vector<double> busy(platform.channel_count(), 0.0);  // seconds
  std::vector<Channel> route;
  for_each_edge(graph, core_of, [&](Rank from, Rank to, double bytes, double) {
    route.clear();
    platform.route(core_of[index(from)], core_of[index(to)], route);
    for (const Channel channel : route) busy[channel] += bytes;
  });
  Prediction prediction;
  for (Channel channel = 0; channel < busy.size(); ++channel) {
    if (busy[channel] == 0) continue;
    busy[channel] /= platform.rate(channel);
    if (busy[channel] > prediction.busiest_seconds) {
      prediction.busiest_seconds = busy[channel];
      prediction.busiest = channel;
    }
  }
  std::vector<double> latency(graph.rank_count(), 0.0);
  prediction.rank_seconds.assign(graph.rank_count(), 0.0);
  for_each_edge(graph, core_of, [&](Rank from, Rank to, double bytes, double messages) {
    const Core p = core_of[index(from)], q = core_of[index(to)];
    double slowest = bytes / platform.max_rate(p, q);
    route.clear();
    platform.route(p, q, route);
    for (const Channel channel : route) slowest = std::max(slowest, busy[channel]);
    for (const Rank end : {from, to}) {
      prediction.rank_seconds[index(end)] = std::max(prediction.rank_seconds[index(end)], slowest);
      latency[index(end)] = std::max(latency[index(end)], messages * platform.latency(p, q));
    }
  });
  for (std::size_t rank = 0; rank < latency.size(); ++rank) {
    prediction.rank_seconds[rank] += latency[rank];
    prediction.seconds = std::max(prediction.seconds, prediction.rank_seconds[rank]);
  }
  return prediction;
}

}  // namespace rankloom
