// SPDX-License-Identifier: Apache-2.0
// model/prediction: an analytic prediction of the communication time of a placement.
#include "rankloom/model/prediction/predict.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "rankloom/core/parallel.hpp"
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

/// With many ranks per core: the same by a table of all pairs of cores, in parallel.
class SharedCorePrediction {
 public:
  SharedCorePrediction(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of)
      : graph_(graph), platform_(platform), core_of_(core_of), cores_(platform.topology().core_count()) {}

  /// The table is far smaller than the graph.
  static bool is_possible(const CommGraph& graph, const Platform& platform) {
    const std::size_t cores = platform.topology().core_count();
    return graph.edge_count() / 64 >= cores * cores;
  }

  Prediction run() {
    std::vector<double> busy = channel_bytes();
    Prediction prediction;
    prediction.busiest = busiest_channels(platform_, busy);
    compare_pairs(busy);
    std::vector<double> latency(graph_.rank_count(), 0.0);
    prediction.rank_seconds.assign(graph_.rank_count(), 0.0);
    const auto longest = parallel_sum<Longest>(graph_.rank_count(), [&](std::size_t begin, std::size_t end) {
      Longest found;
      for_each_edge(begin, end, [&](Rank from, Rank to, double bytes, double messages, std::size_t pair) {
        const double transfer = bytes / pairs_[pair].max_rate;
        const double latencies = messages * pairs_[pair].latency;
        found.transfer.keep_longer({from, to, bytes, transfer});
        found.latency.keep_longer({from, to, bytes, latencies});
        for (const Rank end_of_edge : {from, to}) {
          raise(prediction.rank_seconds[index(end_of_edge)], std::max(transfer, pairs_[pair].busiest));
          if (latencies > 0) raise(latency[index(end_of_edge)], latencies);
        }
      });
      return found;
    });
    prediction.longest_transfer = longest.transfer;
    prediction.longest_latency = longest.latency;
    for (std::size_t rank = 0; rank < latency.size(); ++rank) {
      prediction.rank_seconds[rank] += latency[rank];
      prediction.seconds = std::max(prediction.seconds, prediction.rank_seconds[rank]);
    }
    return prediction;
  }

 private:
  /// What all transfers between two cores have in common.
  struct CorePair {
    double busiest = 0;  ///< Seconds of the busiest channel between them.
    double max_rate = 0, latency = 0;
  };
  struct LongestPair : PairTime {
    void keep_longer(const PairTime& other) {
      if (other.seconds > seconds) PairTime::operator=(other);
    }
  };
  struct Longest {
    LongestPair transfer, latency;
    Longest& operator+=(const Longest& other) {
      transfer.keep_longer(other.transfer);
      latency.keep_longer(other.latency);
      return *this;
    }
  };
  struct Bytes {
    std::vector<double> between;
    Bytes& operator+=(const Bytes& other) {
      if (between.empty()) between.assign(other.between.size(), 0.0);
      for (std::size_t pair = 0; pair < between.size(); ++pair) between[pair] += other.between[pair];
      return *this;
    }
  };

  /// Of the ranks from begin to end, to other cores: visit(from, to, bytes, messages, pair of cores).
  template <class Visit>
  void for_each_edge(std::size_t begin, std::size_t end, const Visit& visit) const {
    for (std::size_t at = begin; at < end; ++at) {
      const Rank rank{static_cast<std::uint32_t>(at)};
      const auto targets = graph_.targets(rank);
      const auto bytes = graph_.bytes(rank);
      const std::uint32_t core = index(core_of_[at]);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        const std::uint32_t other = index(core_of_[index(targets[edge])]);
        if (core == other) continue;
        visit(rank, targets[edge], bytes[edge], std::max(graph_.messages(rank, edge), 1.0), cores_ * core + other);
      }
    }
  }

  std::vector<double> channel_bytes() const {
    constexpr std::size_t tables = 16;
    const auto bytes = parallel_sum<Bytes>(
        graph_.rank_count(),
        [&](std::size_t begin, std::size_t end) {
          Bytes sum{std::vector<double>(cores_ * cores_, 0.0)};
          for_each_edge(begin, end,
                        [&](Rank, Rank, double sent, double, std::size_t pair) { sum.between[pair] += sent; });
          return sum;
        },
        graph_.rank_count() / tables + 1);
    std::vector<double> busy(platform_.channel_count(), 0.0);
    std::vector<Channel> route;
    for_each_pair([&](Core from, Core to, std::size_t pair) {
      if (bytes.between[pair] == 0) return;
      route.clear();
      platform_.route(from, to, route);
      for (const Channel channel : route) busy[channel] += bytes.between[pair];
    });
    return busy;
  }

  void compare_pairs(const std::vector<double>& busy) {
    pairs_.resize(cores_ * cores_);
    std::vector<Channel> route;
    for_each_pair([&](Core from, Core to, std::size_t pair) {
      pairs_[pair] = {0, platform_.max_rate(from, to), platform_.seconds(from, to).latency};
      route.clear();
      platform_.route(from, to, route);
      for (const Channel channel : route) pairs_[pair].busiest = std::max(pairs_[pair].busiest, busy[channel]);
    });
  }

  template <class Visit>
  void for_each_pair(const Visit& visit) const {
    for (const Core from : platform_.topology().cores()) {
      for (const Core to : platform_.topology().cores())
        if (from != to) visit(from, to, cores_ * index(from) + index(to));
    }
  }

  static void raise(double& number, double to) {
    const std::atomic_ref shared(number);
    double now = shared.load(std::memory_order_relaxed);
    while (now < to && !shared.compare_exchange_weak(now, to, std::memory_order_relaxed)) {
    }
  }

  const CommGraph& graph_;
  const Platform& platform_;
  std::span<const Core> core_of_;
  std::size_t cores_;
  std::vector<CorePair> pairs_;
};

Prediction predict_pairs(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of) {
  if (SharedCorePrediction::is_possible(graph, platform)) return SharedCorePrediction(graph, platform, core_of).run();
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
