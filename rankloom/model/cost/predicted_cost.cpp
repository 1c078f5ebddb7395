// SPDX-License-Identifier: Apache-2.0
// model/cost: the cost model `predicted` for local search.
#include "rankloom/model/cost/predicted_cost.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {

namespace {

double eighth_power(double x) {
  const double square = x * x, fourth = square * square;
  return fourth * fourth;
}

/// Rounding may leave less than nothing of a sum.
double eighth_root(double x) {
  return x > 0 ? std::sqrt(std::sqrt(std::sqrt(x))) : 0;
}

}  // namespace

PredictedCost::PredictedCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start)
    : IncrementalCost(start),
      platform_(*Platform::of(topology)),
      routes_(platform_),
      neighbours_(graph),
      busy_(platform_.channel_count(), 0.0),
      difference_(platform_.channel_count(), 0.0),
      is_changed_(platform_.channel_count(), 0) {
  for (Channel channel = 0; channel < platform_.channel_count(); ++channel)
    seconds_per_byte_.push_back(1 / platform_.rate(channel));
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      routes_.for_each_channel(core_of_[from], core_of_[graph.targets(from)[edge]], [&](Channel channel) {
        busy_[channel] += graph.bytes(from)[edge] * seconds_per_byte_[channel];
      });
    }
  }
  recompute_sums();
}

void PredictedCost::recompute_sums() {
  const double longest = busy_.empty() ? 0 : *std::max_element(busy_.begin(), busy_.end());
  if (longest > 0) scale_ = 1 / longest;
  sums_ = {};
  for (const double seconds : busy_) sums_.busy += eighth_power(seconds * scale_);
  for (std::uint32_t r = 0; r < core_of_.size(); ++r) {
    const auto others = neighbours_.others(Rank{r});
    const auto flows = neighbours_.flows(Rank{r});
    for (std::size_t at = 0; at < others.size(); ++at)
      add_edge({core_of_[Rank{r}], core_of_[others[at]]}, flows[at].bytes_out, flows[at].messages_out, 1, sums_);
  }
  summed_ = sums_.busy + sums_.latencies;
  cost_ = cost_of(sums_);
}

void PredictedCost::add_edge(Ends ends, double bytes, double messages, double sign, Sums& sums) const {
  if (ends.from == ends.to || (bytes == 0 && messages == 0)) return;
  const Cost pair = routes_.seconds(ends.from, ends.to);
  sums.busy += sign * eighth_power(bytes * pair.inverse_bandwidth * scale_);
  sums.latencies += sign * eighth_power(std::max(messages, 1.0) * pair.latency * scale_);
}

std::vector<Rank> PredictedCost::ranks_in_the_way() const {
  constexpr double almost = 0.9;
  const double longest = busy_.empty() ? 0 : *std::max_element(busy_.begin(), busy_.end());
  std::vector<Rank> ranks;
  for (std::uint32_t r = 0; r < core_of_.size() && longest > 0; ++r) {
    const auto others = neighbours_.others(Rank{r});
    const auto flows = neighbours_.flows(Rank{r});
    bool uses_busiest = false;
    const auto look = [&](Channel channel) { uses_busiest |= busy_[channel] >= almost * longest; };
    for (std::size_t at = 0; at < others.size() && !uses_busiest; ++at) {
      const Core core = core_of_[Rank{r}], other = core_of_[others[at]];
      if (flows[at].bytes_out > 0) routes_.for_each_channel(core, other, look);
      if (flows[at].bytes_in > 0) routes_.for_each_channel(other, core, look);
    }
    if (uses_busiest) ranks.push_back(Rank{r});
  }
  return ranks;
}

void PredictedCost::collect(double bytes, double messages, Ends before, Ends after) {
  if (bytes == 0 && messages == 0) return;
  for (const double sign : {-1.0, 1.0}) {
    const Ends ends = sign < 0 ? before : after;
    add_edge(ends, bytes, messages, sign, sums_difference_);
    routes_.for_each_channel(ends.from, ends.to, [&](Channel channel) {
      if (is_changed_[channel] == 0) {
        is_changed_[channel] = 1;
        changed_.push_back(channel);
      }
      difference_[channel] += sign * bytes * seconds_per_byte_[channel];
    });
  }
}

void PredictedCost::collect_relocation(Rank rank, Core to, Rank except) {
  const Core from = core_of_[rank];
  const auto others = neighbours_.others(rank);
  const auto flows = neighbours_.flows(rank);
  for (std::size_t at = 0; at < others.size(); ++at) {
    if (others[at] == except) continue;
    const Core other = core_of_[others[at]];
    collect(flows[at].bytes_out, flows[at].messages_out, {from, other}, {to, other});
    collect(flows[at].bytes_in, flows[at].messages_in, {other, from}, {other, to});
  }
}

void PredictedCost::collect_exchange(Rank a, Rank b) {
  const Core p = core_of_[a], q = core_of_[b];
  collect_relocation(a, q, b);
  collect_relocation(b, p, a);
  const auto others = neighbours_.others(a);
  const auto found = std::lower_bound(others.begin(), others.end(), b);
  if (found == others.end() || *found != b) return;
  const Flow& flow = neighbours_.flows(a)[static_cast<std::size_t>(found - others.begin())];
  collect(flow.bytes_out, flow.messages_out, {p, q}, {q, p});
  collect(flow.bytes_in, flow.messages_in, {q, p}, {p, q});
}

PredictedCost::Sums PredictedCost::changed_sums() const {
  Sums sums{sums_.busy + sums_difference_.busy, sums_.latencies + sums_difference_.latencies};
  for (const Channel channel : changed_)
    sums.busy += eighth_power((busy_[channel] + difference_[channel]) * scale_) - eighth_power(busy_[channel] * scale_);
  return sums;
}

double PredictedCost::cost_of(const Sums& sums) const {
  return (eighth_root(sums.busy) + eighth_root(sums.latencies)) / scale_;
}

void PredictedCost::discard() {
  for (const Channel channel : changed_) {
    difference_[channel] = 0;
    is_changed_[channel] = 0;
  }
  changed_.clear();
  sums_difference_ = {};
}

void PredictedCost::commit() {
  sums_ = changed_sums();
  for (const Channel channel : changed_) busy_[channel] += difference_[channel];
  discard();
  cost_ = cost_of(sums_);
  // A sum that has become much smaller consists of rounding errors.
  constexpr double digits_lost = 1e-3;
  if (sums_.busy + sums_.latencies < digits_lost * summed_) recompute_sums();
}

double PredictedCost::move_delta(Rank rank, Core to) {
  if (core_of_[rank] == to) return 0;
  collect_relocation(rank, to, rank);
  const double delta = cost_of(changed_sums()) - cost_;
  discard();
  return delta;
}

double PredictedCost::exchange_delta(Rank a, Rank b) {
  if (core_of_[a] == core_of_[b]) return 0;
  collect_exchange(a, b);
  const double delta = cost_of(changed_sums()) - cost_;
  discard();
  return delta;
}

void PredictedCost::move(Rank rank, Core to) {
  if (core_of_[rank] == to) return;
  collect_relocation(rank, to, rank);
  core_of_[rank] = to;
  commit();
}

void PredictedCost::exchange(Rank a, Rank b) {
  if (core_of_[a] == core_of_[b]) return;
  collect_exchange(a, b);
  std::swap(core_of_[a], core_of_[b]);
  commit();
}

PhasedCost::PhasedCost(const CommGraph& graph, const Topology& topology, std::span<const Core> start)
    : IncrementalCost(start), neighbours_(graph) {
  for (const CommGraph& phase : graph.parts()->phases)
    phases_.push_back(std::make_unique<PredictedCost>(phase, topology, start));
  sum_costs();
}

void PhasedCost::sum_costs() {
  cost_ = 0;
  for (const auto& phase : phases_) cost_ += phase->cost();
}

std::vector<Rank> PhasedCost::ranks_in_the_way() const {
  const auto longest = std::max_element(phases_.begin(), phases_.end(),
                                        [](const auto& a, const auto& b) { return a->cost() < b->cost(); });
  return (*longest)->ranks_in_the_way();
}

double PhasedCost::move_delta(Rank rank, Core to) {
  double delta = 0;
  for (const auto& phase : phases_) delta += phase->move_delta(rank, to);
  return delta;
}

double PhasedCost::exchange_delta(Rank a, Rank b) {
  double delta = 0;
  for (const auto& phase : phases_) delta += phase->exchange_delta(a, b);
  return delta;
}

void PhasedCost::move(Rank rank, Core to) {
  for (const auto& phase : phases_) phase->move(rank, to);
  core_of_[rank] = to;
  sum_costs();
}

void PhasedCost::exchange(Rank a, Rank b) {
  for (const auto& phase : phases_) phase->exchange(a, b);
  std::swap(core_of_[a], core_of_[b]);
  sum_costs();
}

}  // namespace rankloom
