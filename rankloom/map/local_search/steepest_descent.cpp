// SPDX-License-Identifier: Apache-2.0
// map/local_search: steepest descent with a table of all exchanges, and iterated local search; for small programs.
#include "rankloom/map/local_search/steepest_descent.hpp"

#include <algorithm>
#include <cassert>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/local_search/neighbourhood_descent.hpp"

namespace rankloom {

bool ExchangeTable::fits(const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  std::uint64_t occupants = ranks;
  for (const Core core : problem.topology.cores()) {
    occupants += std::min<std::uint64_t>(problem.capacities[core], ranks);
    if (ranks * occupants > max_pairs) return false;
  }
  return true;
}

ExchangeTable::ExchangeTable(PlacementState& state, const ReverseAdjacency& reverse_adjacency,
                             StopCondition& stop_condition)
    : state_(state), incoming_(reverse_adjacency), stop_condition_(stop_condition), ranks_(state.rank_count()) {
  const MapProblem& problem = state.problem();
  assert(fits(problem));
  if (problem.model != CostModel::congestion) distance_ = make_distance(problem.topology, problem.model);
  with_messages_ = problem.model == CostModel::time;
  std::vector<std::uint32_t> used(problem.topology.core_count(), 0);
  for (const Core core : state.placement()) ++used[index(core)];
  for (const Core core : problem.topology.cores()) {
    // A core never needs more free slots than there are ranks.
    free_slots_.insert(free_slots_.end(), std::min(ranks_, problem.capacities[core] - used[index(core)]), core);
  }
  occupants_ = ranks_ + static_cast<std::uint32_t>(free_slots_.size());
  delta_.resize(std::size_t{ranks_} * occupants_);
  for (Update* const update : {&bytes_out_, &bytes_in_, &messages_out_, &messages_in_}) {
    update->flow.resize(occupants_);
    update->distance.resize(occupants_);
  }
  compute_all();
}

Core ExchangeTable::core_of(std::uint32_t occupant) const {
  return occupant < ranks_ ? state_.core_of(Rank{occupant}) : free_slots_[occupant - ranks_];
}

double ExchangeTable::compute(std::uint32_t rank, std::uint32_t other) {
  if (core_of(rank) == core_of(other)) return 0;
  return other < ranks_ ? state_.try_exchange(Rank{rank}, Rank{other}).delta
                        : state_.try_move(Rank{rank}, core_of(other)).delta;
}

double ExchangeTable::recompute(const Exchange& exchange) {
  return at(exchange.rank, exchange.other) = compute(exchange.rank, exchange.other);
}

ExchangeTable::Exchange ExchangeTable::exchange(std::uint32_t a, std::uint32_t b) const {
  const auto [first, second] = std::minmax(a, b);
  return {first, second, at(first, second)};
}

void ExchangeTable::compute_all() {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (std::uint32_t other = rank + 1; other < occupants_ && !stop_condition_.should_stop(); ++other) {
      at(rank, other) = compute(rank, other);
    }
  }
}

void ExchangeTable::compute_row(std::uint32_t occupant) {
  for (std::uint32_t other = 0; other < occupants_; ++other) {
    const auto [first, second] = std::minmax(occupant, other);
    if (first != second && first < ranks_) at(first, second) = compute(first, second);
  }
}

std::optional<ExchangeTable::Exchange> ExchangeTable::best() const {
  std::optional<Exchange> best;
  if (stop_condition_.stopped()) return best;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const double* const row = delta_.data() + std::size_t{rank} * occupants_;
    for (std::uint32_t other = rank + 1; other < occupants_; ++other) {
      if (!best || row[other] < best->delta) best = {rank, other, row[other]};
    }
  }
  return best;
}

void ExchangeTable::apply(const Exchange& exchange) {
  if (distance_) prepare_updates(exchange.rank, exchange.other);
  const Core from = core_of(exchange.rank);
  if (exchange.other < ranks_) {
    state_.apply(state_.try_exchange(Rank{exchange.rank}, Rank{exchange.other}));
  } else {
    state_.apply(state_.try_move(Rank{exchange.rank}, core_of(exchange.other)));
    free_slots_[exchange.other - ranks_] = from;
  }
  if (!distance_) return compute_all();
  stop_condition_.should_stop();
  update_all();
  compute_row(exchange.rank);
  compute_row(exchange.other);
}

/// Called before the exchange of r (on P) and s (on Q). With traffic a and distances b, the delta of exchanging (u, v)
/// contains r and s as (a[u][r] - a[v][r]) (b[v][P] - b[u][P]) + (a[u][s] - a[v][s]) (b[v][Q] - b[u][Q]), and the same
/// for the other direction. With P and Q exchanged, the difference is
/// -(flow[u] - flow[v]) (distance[u] - distance[v]) for flow[u] = a[u][r] - a[u][s] and distance[u] = b[u][Q] -
/// b[u][P].
void ExchangeTable::prepare_updates(std::uint32_t r, std::uint32_t s) {
  for (Update* const update : {&bytes_out_, &bytes_in_, &messages_out_, &messages_in_}) {
    std::fill(update->flow.begin(), update->flow.end(), 0.0);
  }
  add_flows(r, 1);
  add_flows(s, -1);
  const Core p = core_of(r);
  const Core q = core_of(s);
  std::visit(
      [&](const auto& distance) {
        for (std::uint32_t u = 0; u < occupants_; ++u) {
          const Core core = core_of(u);
          const PairCost to_p = distance(core, p), to_q = distance(core, q);
          const PairCost from_p = distance(p, core), from_q = distance(q, core);
          bytes_out_.distance[u] = to_q.per_byte - to_p.per_byte;
          bytes_in_.distance[u] = from_q.per_byte - from_p.per_byte;
          messages_out_.distance[u] = to_q.per_message - to_p.per_message;
          messages_in_.distance[u] = from_q.per_message - from_p.per_message;
        }
      },
      *distance_);
}

/// Adds the traffic that every rank sends to this rank and receives from it.
void ExchangeTable::add_flows(std::uint32_t occupant, double sign) {
  if (occupant >= ranks_) return;
  const CommGraph& graph = state_.problem().graph;
  const Rank rank{occupant};
  for (const ReverseAdjacency::Entry& sender : incoming_[rank]) {
    bytes_out_.flow[index(sender.from)] += sign * sender.bytes;
    messages_out_.flow[index(sender.from)] += sign * sender.messages;
  }
  const auto targets = graph.targets(rank);
  const auto messages = graph.messages(rank);
  for (std::size_t edge = 0; edge < targets.size(); ++edge) {
    bytes_in_.flow[index(targets[edge])] += sign * graph.bytes(rank)[edge];
    messages_in_.flow[index(targets[edge])] += sign * (messages.empty() ? graph.default_messages() : messages[edge]);
  }
}

void ExchangeTable::update_all() {
  const auto update_row = [&](double* row, std::uint32_t u, const Update& out, const Update& in) {
    const double flow_out = out.flow[u], distance_out = out.distance[u];
    const double flow_in = in.flow[u], distance_in = in.distance[u];
    for (std::uint32_t v = u + 1; v < occupants_; ++v) {
      row[v] -= (flow_out - out.flow[v]) * (distance_out - out.distance[v]) +
                (flow_in - in.flow[v]) * (distance_in - in.distance[v]);
    }
  };
  for (std::uint32_t u = 0; u < ranks_; ++u) {
    double* const row = delta_.data() + std::size_t{u} * occupants_;
    update_row(row, u, bytes_out_, bytes_in_);
    if (with_messages_) update_row(row, u, messages_out_, messages_in_);
  }
}

namespace {

using Exchange = ExchangeTable::Exchange;

/// Enough that the descent seldom just reverts them, few enough that most of the placement is unchanged.
constexpr std::uint32_t exchanges_per_kick = 5;

/// Appends the applied exchanges to `done`.
void descend(const PlacementState& state, ExchangeTable& table, std::vector<Exchange>& done) {
  for (auto exchange = table.best(); exchange && state.is_gain(exchange->delta); exchange = table.best()) {
    // Rounding errors accumulate in the table, so the delta is recomputed before the exchange is applied.
    exchange->delta = table.recompute(*exchange);
    if (!state.is_gain(exchange->delta)) continue;
    table.apply(*exchange);
    done.push_back(*exchange);
  }
}

void kick(ExchangeTable& table, Random& random, std::vector<Exchange>& done) {
  for (std::uint32_t count = 0; count < exchanges_per_kick; ++count) {
    const auto rank = static_cast<std::uint32_t>(random.below(table.ranks()));
    const auto other = static_cast<std::uint32_t>(random.below(table.occupants() - 1));
    done.push_back(table.exchange(rank, other < rank ? other : other + 1));
    table.apply(done.back());
  }
}

}  // namespace

void descend_steepest(PlacementState& state, const ReverseAdjacency& reverse_adjacency, std::uint64_t kicks,
                      Random& random, StopCondition& stop_condition) {
  const TimedSection timing("steepest descent");
  if (!ExchangeTable::fits(state.problem())) return NeighbourhoodDescent(state).run(stop_condition);
  ExchangeTable table(state, reverse_adjacency, stop_condition);
  std::vector<Exchange> done;
  descend(state, table, done);
  if (!state.deltas_are_local() || table.ranks() == 0 || table.occupants() < 2) return;
  for (std::uint64_t count = 0; count < kicks && !stop_condition.stopped(); ++count) {
    const double before = state.cost();
    done.clear();
    kick(table, random, done);
    descend(state, table, done);
    if (state.cost() <= before) continue;
    for (; !done.empty(); done.pop_back()) table.apply(done.back());
  }
}

}  // namespace rankloom
