// SPDX-License-Identifier: Apache-2.0
// map/local_search: what every exchange would bring, kept up to date; for small programs.
#include "rankloom/map/local_search/exchange_table.hpp"

#include <algorithm>
#include <cassert>

namespace rankloom {

bool ExchangeTable::fits(const MapProblem& problem) {
  const std::uint64_t ranks = problem.graph.rank_count();
  std::uint64_t occupants = ranks;
  for (const Core core : problem.topology.cores()) {
    occupants += std::min<std::uint64_t>(problem.capacities[core], ranks);
    if (ranks * occupants > most_pairs) return false;
  }
  return true;
}

ExchangeTable::ExchangeTable(Seating& seating, const Senders& senders, Pulse& pulse)
    : seating_(seating), senders_(senders), pulse_(pulse), ranks_(seating.rank_count()) {
  const MapProblem& problem = seating.problem();
  assert(fits(problem));
  if (problem.model != CostModel::congestion) distance_ = make_distance(problem.topology, problem.model);
  with_messages_ = problem.model == CostModel::time;
  std::vector<std::uint32_t> taken(problem.topology.core_count(), 0);
  for (const Core core : seating.placement()) ++taken[index(core)];
  for (const Core core : problem.topology.cores()) {
    // More free capacities on a core than there are ranks are of no use.
    free_slots_.insert(free_slots_.end(), std::min(ranks_, problem.capacities[core] - taken[index(core)]), core);
  }
  occupants_ = ranks_ + static_cast<std::uint32_t>(free_slots_.size());
  delta_.resize(std::size_t{ranks_} * occupants_);
  for (Shift* const shift : {&bytes_out_, &bytes_in_, &messages_out_, &messages_in_}) {
    shift->flow.resize(occupants_);
    shift->way.resize(occupants_);
  }
  compute_all();
}

Core ExchangeTable::core_of(std::uint32_t occupant) const {
  return occupant < ranks_ ? seating_.core_of(Rank{occupant}) : free_slots_[occupant - ranks_];
}

double ExchangeTable::compute(std::uint32_t rank, std::uint32_t other) {
  if (core_of(rank) == core_of(other)) return 0;
  return other < ranks_ ? seating_.try_swap(Rank{rank}, Rank{other}).delta
                        : seating_.try_move(Rank{rank}, core_of(other)).delta;
}

double ExchangeTable::correct(const Exchange& exchange) {
  return at(exchange.rank, exchange.other) = compute(exchange.rank, exchange.other);
}

ExchangeTable::Exchange ExchangeTable::exchange(std::uint32_t one, std::uint32_t other) const {
  const auto [first, second] = std::minmax(one, other);
  return {first, second, at(first, second)};
}

void ExchangeTable::compute_all() {
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    for (std::uint32_t other = rank + 1; other < occupants_ && !pulse_.stop(); ++other) {
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
  if (pulse_.stopped()) return best;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const double* const row = delta_.data() + std::size_t{rank} * occupants_;
    for (std::uint32_t other = rank + 1; other < occupants_; ++other) {
      if (!best || row[other] < best->delta) best = {rank, other, row[other]};
    }
  }
  return best;
}

void ExchangeTable::apply(const Exchange& exchange) {
  if (distance_) prepare_shifts(exchange.rank, exchange.other);
  const Core from = core_of(exchange.rank);
  if (exchange.other < ranks_) {
    seating_.apply(seating_.try_swap(Rank{exchange.rank}, Rank{exchange.other}));
  } else {
    seating_.apply(seating_.try_move(Rank{exchange.rank}, core_of(exchange.other)));
    free_slots_[exchange.other - ranks_] = from;
  }
  if (!distance_) return compute_all();
  pulse_.stop();
  shift_all();
  compute_row(exchange.rank);
  compute_row(exchange.other);
}

/// Before r (on P) and s (on Q) change places. In the cost of exchanging (u, v), r and s appear as
/// (a[u][r] - a[v][r]) (b[v][P] - b[u][P]) + (a[u][s] - a[v][s]) (b[v][Q] - b[u][Q]) and the same for the other
/// direction; with P and Q exchanged, the difference is -(flow[u] - flow[v]) (way[u] - way[v]) for flow[u] = a[u][r] -
/// a[u][s] and way[u] = b[u][Q] - b[u][P].
void ExchangeTable::prepare_shifts(std::uint32_t r, std::uint32_t s) {
  for (Shift* const shift : {&bytes_out_, &bytes_in_, &messages_out_, &messages_in_}) {
    std::fill(shift->flow.begin(), shift->flow.end(), 0.0);
  }
  add_flows(r, 1);
  add_flows(s, -1);
  const Core p = core_of(r);
  const Core q = core_of(s);
  std::visit(
      [&](const auto& distance) {
        for (std::uint32_t u = 0; u < occupants_; ++u) {
          const Core here = core_of(u);
          const PairCost to_p = distance(here, p), to_q = distance(here, q);
          const PairCost from_p = distance(p, here), from_q = distance(q, here);
          bytes_out_.way[u] = to_q.per_byte - to_p.per_byte;
          bytes_in_.way[u] = from_q.per_byte - from_p.per_byte;
          messages_out_.way[u] = to_q.per_message - to_p.per_message;
          messages_in_.way[u] = from_q.per_message - from_p.per_message;
        }
      },
      *distance_);
}

/// Adds what every rank sends to this one and gets from it.
void ExchangeTable::add_flows(std::uint32_t occupant, double sign) {
  if (occupant >= ranks_) return;
  const CommGraph& graph = seating_.problem().graph;
  const Rank rank{occupant};
  for (const Senders::Entry& sender : senders_[rank]) {
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

void ExchangeTable::shift_all() {
  const auto shift_row = [&](double* row, std::uint32_t u, const Shift& out, const Shift& in) {
    const double flow_out = out.flow[u], way_out = out.way[u];
    const double flow_in = in.flow[u], way_in = in.way[u];
    for (std::uint32_t v = u + 1; v < occupants_; ++v) {
      row[v] -= (flow_out - out.flow[v]) * (way_out - out.way[v]) + (flow_in - in.flow[v]) * (way_in - in.way[v]);
    }
  };
  for (std::uint32_t u = 0; u < ranks_; ++u) {
    double* const row = delta_.data() + std::size_t{u} * occupants_;
    shift_row(row, u, bytes_out_, bytes_in_);
    if (with_messages_) shift_row(row, u, messages_out_, messages_in_);
  }
}

}  // namespace rankloom
