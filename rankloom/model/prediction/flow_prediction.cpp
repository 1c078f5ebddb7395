// SPDX-License-Identifier: Apache-2.0
// model/prediction: messages as flows that share channels.
#include "rankloom/model/prediction/flow_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "rankloom/model/graph/exchange_rounds.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {

namespace {

/// Messages of all simulated steps together.
constexpr std::size_t max_flows = 20'000;
constexpr std::size_t max_steps_of_round = 64;
/// Changes within this part of the expected time happen at once.
constexpr double resolution = 0.001;
/// Of SimGrid's network model CM02: "network/weight-S".
constexpr double weight_s = 8775;
/// Shares that differ by less are equal.
constexpr double tolerance = 1e-3;
/// Bytes per second: rounding must not stop a flow.
constexpr double min_rate = 1e-3;
constexpr double unlimited = std::numeric_limits<double>::infinity();

/// The messages of a pair in one step.
struct MessageFlow {
  std::uint32_t from = 0, to = 0, step = 0;
  std::uint32_t begin = 0, end = 0;  // of its channels
  double latency = 0;                // seconds, of all messages
  double bytes = 0;                  // that are left
  double bound = unlimited;          // bytes per second, if no channel of the route has so low a rate
  double weight = 1;                 // of its share of a channel
  std::uint8_t posted = 0;           // by how many of its two ranks
  bool has_rate = false;
  double rate = 0, active_since = 0;
};

struct RankState {
  std::vector<std::uint32_t> flows;  // in the order of steps
  std::size_t next = 0;
  std::uint32_t open = 0;
  double ready = 0;
};
using Start = std::pair<double, std::uint32_t>;  // seconds, flow
/// A channel on the route of a flow, and the position of the flow in the list of the channel.
struct RouteEntry {
  std::uint32_t channel, position;
};
/// A flow that uses a channel, and the index of the channel in routes_.
struct Stop {
  std::uint32_t flow, at;
};
struct UsedChannel {
  double rate;        // bytes per second
  double weight = 0;  // of its active flows
  double free = 0;    // what is left for flows without a rate
  double open_weight = 0;
  std::uint32_t open = 0;  // flows without a rate
  std::vector<Stop> stops;
};

class FlowSimulation {
 public:
  FlowSimulation(const Platform& platform, std::span<const Core> core_of, double window)
      : platform_(platform),
        core_of_(core_of),
        window_(window),
        ranks_(core_of.size()),
        channel_of_(platform.channel_count(), none) {}

  /// After the steps that were added before.
  void add(const ExchangeStep& step) {
    for (const StepMessage& message : step) {
      const auto number = static_cast<std::uint32_t>(flows_.size());
      add(message);
      ranks_[index(message.from)].flows.push_back(number);
      ranks_[index(message.to)].flows.push_back(number);
    }
    ++steps_;
  }

  /// Seconds; infinite if more than the limit.
  double run(double limit) {
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) enter_next_step(rank, 0);
    while (!starts_.empty() || !active_.empty()) {
      if (now_ > limit) return unlimited;
      // The next change.
      double next = starts_.empty() ? unlimited : starts_.top().first;
      for (const std::uint32_t flow : active_) next = std::min(next, now_ + flows_[flow].bytes / flows_[flow].rate);
      advance(next + window_);
      share_channels();
    }
    return last_;
  }

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  void add(const StepMessage& message) {
    const Core from = core_of_[index(message.from)], to = core_of_[index(message.to)];
    const auto begin = static_cast<std::uint32_t>(routes_.size());
    MessageFlow flow{
        .from = index(message.from), .to = index(message.to), .step = steps_, .begin = begin, .end = begin};
    flow.bytes = message.bytes;
    if (from != to) {
      const Cost seconds = platform_.seconds(from, to);
      flow.latency = message.count * seconds.latency;
      double slowest = unlimited, penalty = seconds.latency;
      route_.clear();
      platform_.route(from, to, route_);
      for (const Channel channel : route_) {
        const double rate = platform_.rate(channel);
        if (std::isinf(rate)) continue;
        slowest = std::min(slowest, rate);
        penalty += weight_s / rate;
        routes_.push_back({used_channel(channel, rate), 0});
      }
      if (const double max_rate = platform_.max_rate(from, to); max_rate < slowest) {
        flow.bound = max_rate;
        penalty += weight_s / max_rate;
      }
      if (penalty > 0) flow.weight = 1 / penalty;
    }
    flow.end = static_cast<std::uint32_t>(routes_.size());
    flows_.push_back(flow);
  }

  /// Channels with traffic have numbers from 0.
  std::uint32_t used_channel(Channel channel, double rate) {
    if (channel_of_[channel] == none) {
      channel_of_[channel] = static_cast<std::uint32_t>(channels_.size());
      channels_.push_back({.rate = rate, .stops = {}});
    }
    return channel_of_[channel];
  }

  /// Posts the messages of the next step of the rank.
  void enter_next_step(std::uint32_t number, double time) {
    RankState& rank = ranks_[number];
    last_ = std::max(last_, time);
    if (rank.next == rank.flows.size()) return;
    const std::uint32_t step = flows_[rank.flows[rank.next]].step;
    const std::size_t begin = rank.next;
    while (rank.next < rank.flows.size() && flows_[rank.flows[rank.next]].step == step) ++rank.next;
    rank.open = static_cast<std::uint32_t>(rank.next - begin);
    for (std::size_t at = begin; at < begin + rank.open; ++at) {
      MessageFlow& flow = flows_[rank.flows[at]];
      if (++flow.posted == 2) starts_.emplace(time + flow.latency, rank.flows[at]);
    }
  }

  void complete(std::uint32_t number, double time) {
    const MessageFlow flow = flows_[number];
    for (const std::uint32_t rank : {flow.from, flow.to}) {
      ranks_[rank].ready = std::max(ranks_[rank].ready, time);
      if (--ranks_[rank].open == 0) enter_next_step(rank, ranks_[rank].ready);
    }
  }

  /// Transfers until this time with the current rates; then completes flows and activates others.
  void advance(double until) {
    std::size_t kept = 0;
    std::vector<std::pair<double, std::uint32_t>> completed;
    for (const std::uint32_t number : active_) {
      MessageFlow& flow = flows_[number];
      const double end = now_ + flow.bytes / flow.rate;
      if (end <= until) {
        completed.emplace_back(end, number);
        leave_channels(number);
      } else {
        flow.bytes -= flow.rate * (until - now_);
        active_[kept++] = number;
      }
    }
    active_.resize(kept);
    now_ = until;
    for (const auto& [time, number] : completed) complete(number, time);
    while (!starts_.empty() && starts_.top().first <= until) {
      const auto [time, number] = starts_.top();
      starts_.pop();
      MessageFlow& flow = flows_[number];
      if (flow.bytes == 0 || (flow.begin == flow.end && std::isinf(flow.bound))) {
        complete(number, time);
        continue;
      }
      flow.active_since = time;
      active_.push_back(number);
      started_.push_back(number);
      join_channels(number);
    }
  }

  /// A total order of the flows with bounds.
  struct ReachesBoundFirst {
    const std::vector<MessageFlow>& flows;
    bool operator()(std::uint32_t a, std::uint32_t b) const {
      const double share_a = flows[a].bound / flows[a].weight, share_b = flows[b].bound / flows[b].weight;
      return share_a != share_b ? share_a < share_b : a < b;
    }
  };

  void join_channels(std::uint32_t number) {
    MessageFlow& flow = flows_[number];
    for (std::uint32_t at = flow.begin; at < flow.end; ++at) {
      UsedChannel& channel = channels_[routes_[at].channel];
      routes_[at].position = static_cast<std::uint32_t>(channel.stops.size());
      channel.stops.push_back({number, at});
      channel.weight += flow.weight;
    }
    if (flow.bound == unlimited) return;
    bounded_.insert(std::upper_bound(bounded_.begin(), bounded_.end(), number, ReachesBoundFirst{flows_}), number);
  }

  void leave_channels(std::uint32_t number) {
    MessageFlow& flow = flows_[number];
    for (std::uint32_t at = flow.begin; at < flow.end; ++at) {
      UsedChannel& channel = channels_[routes_[at].channel];
      const Stop last = channel.stops.back();
      channel.stops[routes_[at].position] = last;
      routes_[last.at].position = routes_[at].position;
      channel.stops.pop_back();
      channel.weight = channel.stops.empty() ? 0 : channel.weight - flow.weight;
    }
    if (flow.bound == unlimited) return;
    bounded_.erase(std::lower_bound(bounded_.begin(), bounded_.end(), number, ReachesBoundFirst{flows_}));
  }

  /// Weighted max-min fairness: the channel with the least capacity per weight is filled first.
  void share_channels() {
    for (const std::uint32_t number : active_) flows_[number].has_rate = false;
    heap_.clear();
    for (std::uint32_t number = 0; number < channels_.size(); ++number) {
      UsedChannel& channel = channels_[number];
      if (channel.stops.empty()) continue;
      channel.free = channel.rate;
      channel.open_weight = channel.weight;
      channel.open = static_cast<std::uint32_t>(channel.stops.size());
      heap_.emplace_back(share_of(channel), number);
    }
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    auto bounded = bounded_.begin();
    const auto next_bound = [&] {
      while (bounded != bounded_.end() && flows_[*bounded].has_rate) ++bounded;
      return bounded == bounded_.end() ? unlimited : flows_[*bounded].bound / flows_[*bounded].weight;
    };
    for (double bound = next_bound(); !heap_.empty() || bound < unlimited;) {
      if (heap_.empty() || bound <= heap_.front().first) {
        fix(flows_[*bounded], bound);
        bound = next_bound();
        continue;
      }
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [share, number] = heap_.back();
      heap_.pop_back();
      UsedChannel& channel = channels_[number];
      if (channel.open == 0) continue;
      const double now = share_of(channel);
      if (now > share * (1 + tolerance)) {
        heap_.emplace_back(now, number);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
        continue;
      }
      for (const Stop& stop : channel.stops) {
        if (!flows_[stop.flow].has_rate) fix(flows_[stop.flow], now);
      }
      bound = next_bound();
    }
    for (const std::uint32_t number : started_) {
      MessageFlow& flow = flows_[number];
      flow.bytes -= std::min(flow.rate * (now_ - flow.active_since), flow.bytes);
    }
    started_.clear();
  }

  /// Of the flows without a rate, per weight. Differences of weights may leave less than nothing.
  double share_of(UsedChannel& channel) {
    if (!(channel.open_weight > 0)) {
      channel.open_weight = 0;
      for (const Stop& stop : channel.stops) {
        if (!flows_[stop.flow].has_rate) channel.open_weight += flows_[stop.flow].weight;
      }
    }
    return std::max(channel.free, 0.0) / channel.open_weight;
  }

  void fix(MessageFlow& flow, double share) {
    flow.has_rate = true;
    flow.rate = std::max(share * flow.weight, min_rate);
    for (std::uint32_t at = flow.begin; at < flow.end; ++at) {
      UsedChannel& channel = channels_[routes_[at].channel];
      channel.free -= flow.rate;
      channel.open_weight -= flow.weight;
      --channel.open;
    }
  }

  const Platform& platform_;
  std::span<const Core> core_of_;
  double window_;
  std::uint32_t steps_ = 0;
  std::vector<Channel> route_;
  std::vector<RankState> ranks_;
  std::vector<MessageFlow> flows_;
  std::vector<RouteEntry> routes_;
  std::vector<std::uint32_t> channel_of_;  // those with traffic are numbered
  std::vector<UsedChannel> channels_;
  std::vector<std::uint32_t> bounded_;  // active flows with a bound, the first to reach it first
  std::vector<std::pair<double, std::uint32_t>> heap_;
  std::priority_queue<Start, std::vector<Start>, std::greater<>> starts_;
  std::vector<std::uint32_t> active_, started_;
  double now_ = 0, last_ = 0;
};

double rounds_of(const CommGraph& graph) {
  return graph.parts() != nullptr && graph.parts()->rounds > 0 ? graph.parts()->rounds : estimate_rounds(graph);
}

bool has_node_collectives(const CommGraph& graph) {
  return graph.parts() != nullptr && !graph.parts()->node_collectives.calls.empty();
}

CommGraph with_node_collectives(const CommGraph& graph, std::span<const std::uint32_t> node_of) {
  return sum(graph, node_traffic(graph, node_of));
}

/// Messages are distributed over this many rounds.
std::uint32_t whole_rounds(double rounds) {
  return static_cast<std::uint32_t>(std::clamp(std::floor(rounds), 1.0, double{max_rounds_predicted_by_flows}));
}

/// The number of rounds to simulate; 0 if one round has too many messages. It does not depend on the placement, so that
/// the times of all placements are comparable.
std::uint32_t count_simulated_rounds(const CommGraph& graph, double rounds, bool repeats) {
  if (graph.edge_count() > max_flows) return 0;
  if (has_node_collectives(graph)) {
    std::vector<std::uint32_t> own_nodes(graph.rank_count());
    std::iota(own_nodes.begin(), own_nodes.end(), 0U);
    const CommGraph pairs = with_node_collectives(graph, own_nodes);
    if (!has_node_collectives(pairs)) return count_simulated_rounds(pairs, rounds, repeats);
  }
  std::size_t flows = 0;
  const std::uint32_t wanted = repeats ? max_rounds_predicted_by_flows : whole_rounds(rounds);
  for (std::uint32_t round = 0; round < wanted; ++round) {
    for (const ExchangeStep& step : exchange_steps(graph, rounds, round % whole_rounds(rounds), max_steps_of_round))
      flows += step.size();
    if (flows > max_flows) return round;
  }
  return wanted;
}

double simulate_rounds(const CommGraph& graph, double rounds, std::uint32_t simulated, const Platform& platform,
                       std::span<const Core> core_of, double limit) {
  const double part = simulated / rounds;
  const double expected = part * predict(graph, platform, core_of).seconds;
  FlowSimulation simulation(platform, core_of, resolution * expected);
  for (std::uint32_t round = 0; round < simulated; ++round) {
    for (const ExchangeStep& step : exchange_steps(graph, rounds, round % whole_rounds(rounds), max_steps_of_round))
      simulation.add(step);
  }
  return simulation.run(limit * part) / part;
}

std::optional<double> predict_phase_by_flows(const CommGraph& graph, const Platform& platform,
                                             std::span<const Core> core_of, const FlowPredictionOptions& options) {
  const double rounds = rounds_of(graph);
  const std::uint32_t simulated = count_simulated_rounds(graph, rounds, options.repeats);
  if (simulated == 0) return std::nullopt;
  if (!has_node_collectives(graph)) return simulate_rounds(graph, rounds, simulated, platform, core_of, options.limit);
  std::vector<std::uint32_t> node_of;
  for (const Core core : core_of) node_of.push_back(index(platform.topology().node_of(core)));
  return simulate_rounds(with_node_collectives(graph, node_of), rounds, simulated, platform, core_of, options.limit);
}

/// To six significant digits: the others depend on the order of the additions.
double rounded(double seconds) {
  if (!(seconds > 0)) return 0;
  const double scale = std::pow(10.0, 5 - std::floor(std::log10(seconds)));
  return std::round(seconds * scale) / scale;
}

std::span<const CommGraph> phases_of(const CommGraph& graph) {
  if (graph.parts() == nullptr || graph.parts()->phases.empty()) return {&graph, 1};
  return graph.parts()->phases;
}

}  // namespace

std::uint32_t rounds_predicted_by_flows(const CommGraph& graph) {
  std::uint32_t fewest = max_rounds_predicted_by_flows;
  for (const CommGraph& phase : phases_of(graph))
    fewest = std::min(fewest, count_simulated_rounds(phase, rounds_of(phase), false));
  return fewest;
}

std::optional<double> predict_by_flows(const CommGraph& graph, const Platform& platform, std::span<const Core> core_of,
                                       const FlowPredictionOptions& options) {
  double total = 0;
  for (const CommGraph& phase : phases_of(graph)) {
    const auto seconds = predict_phase_by_flows(phase, platform, core_of, {options.limit - total, options.repeats});
    if (!seconds) return std::nullopt;
    total += *seconds;
    if (total > options.limit) return unlimited;
  }
  return rounded(total);
}

}  // namespace rankloom
