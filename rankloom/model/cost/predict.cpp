// SPDX-License-Identifier: Apache-2.0
// model/cost: an analytic prediction of the communication time of a placement.
#include "rankloom/model/cost/predict.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/model/graph/traffic_parts.hpp"
#include "rankloom/model/machine/route_table.hpp"

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

/// Turns the bytes of every channel into seconds.
std::vector<BusyChannel> busiest_channels(const Platform& platform, std::vector<double>& busy) {
  std::vector<BusyChannel> result;
  const std::vector<Channel> kinds = platform.kinds();
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    const Channel end = kind + 1 < kinds.size() ? kinds[kind + 1] : platform.channel_count();
    BusyChannel busiest;
    for (Channel channel = kinds[kind]; channel < end; ++channel) {
      if (busy[channel] == 0) continue;
      const double bytes = busy[channel];
      busy[channel] /= platform.rate(channel);
      if (busy[channel] > busiest.seconds) busiest = {channel, bytes, busy[channel]};
    }
    if (busiest.seconds > 0) result.push_back(busiest);
  }
  // Of equal times that of the outermost channel comes first.
  std::sort(result.begin(), result.end(), [](const BusyChannel& a, const BusyChannel& b) {
    return a.seconds != b.seconds ? a.seconds > b.seconds : a.channel > b.channel;
  });
  return result;
}

/// The interface of RouteTable without its table.
class ComputedRoutes {
 public:
  explicit ComputedRoutes(const Platform& platform) : platform_(platform) {}

  template <class Visit>
  void for_each_channel(Core from, Core to, const Visit& visit) {
    route_.clear();
    platform_.route(from, to, route_);
    for (const Channel channel : route_) visit(channel);
  }
  double max_rate(Core from, Core to) const { return platform_.max_rate(from, to); }
  Cost seconds(Core from, Core to) const { return platform_.seconds(from, to); }

 private:
  const Platform& platform_;
  std::vector<Channel> route_;
};

template <class Routes>
Prediction predict_pairs(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of,
                         Routes&& routes) {
  std::vector<double> busy(platform.channel_count(), 0.0);  // bytes, then seconds
  for_each_edge(graph, core_of, [&](Rank from, Rank to, double bytes, double) {
    routes.for_each_channel(core_of[index(from)], core_of[index(to)], [&](Channel channel) { busy[channel] += bytes; });
  });
  Prediction prediction;
  prediction.busiest = busiest_channels(platform, busy);
  std::vector<double> latency(graph.rank_count(), 0.0);
  prediction.rank_seconds.assign(graph.rank_count(), 0.0);
  for_each_edge(graph, core_of, [&](Rank from, Rank to, double bytes, double messages) {
    const Core p = core_of[index(from)], q = core_of[index(to)];
    // Divided, as the traffic of channels is: a transfer that has a channel for itself takes as long as the channel.
    double slowest = bytes / routes.max_rate(p, q);
    const double latencies = messages * routes.seconds(p, q).latency;
    if (slowest > prediction.longest_transfer.seconds) prediction.longest_transfer = {from, to, bytes, slowest};
    if (latencies > prediction.longest_latency.seconds) prediction.longest_latency = {from, to, bytes, latencies};
    routes.for_each_channel(p, q, [&](Channel channel) { slowest = std::max(slowest, busy[channel]); });
    for (const Rank end : {from, to}) {
      prediction.rank_seconds[index(end)] = std::max(prediction.rank_seconds[index(end)], slowest);
      latency[index(end)] = std::max(latency[index(end)], latencies);
    }
  });
  for (std::size_t rank = 0; rank < latency.size(); ++rank) {
    prediction.rank_seconds[rank] += latency[rank];
    prediction.seconds = std::max(prediction.seconds, prediction.rank_seconds[rank]);
  }
  return prediction;
}

Prediction predict_pairs(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  return graph.edge_count() < RouteTable::entry_count(platform)
             ? predict_pairs(graph, platform, core_of, ComputedRoutes(platform))
             : predict_pairs(graph, platform, core_of, RouteTable(platform));
}

/// The pairs of the graph, and those of its node collectives for this placement.
Prediction predict_phase(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  if (graph.parts() == nullptr || graph.parts()->node_collectives.calls.empty())
    return predict_pairs(graph, platform, core_of);
  std::vector<std::uint32_t> node_of;
  for (const Core core : core_of) node_of.push_back(index(platform.topology().node_of(core)));
  return predict_pairs(sum(graph, node_traffic(graph, node_of)), platform, core_of);
}

}  // namespace

Prediction predict(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  if (graph.parts() == nullptr || graph.parts()->phases.empty()) return predict_phase(graph, platform, core_of);
  Prediction total, longest;
  total.rank_seconds.assign(graph.rank_count(), 0.0);
  for (const CommGraph& phase : graph.parts()->phases) {
    Prediction prediction = predict_phase(phase, platform, core_of);
    total.seconds += prediction.seconds;
    for (std::size_t rank = 0; rank < total.rank_seconds.size(); ++rank)
      total.rank_seconds[rank] += prediction.rank_seconds[rank];
    if (prediction.seconds > longest.seconds) longest = std::move(prediction);
  }
  total.busiest = std::move(longest.busiest);
  total.longest_transfer = longest.longest_transfer;
  total.longest_latency = longest.longest_latency;
  return total;
}

}  // namespace rankloom
