// SPDX-License-Identifier: Apache-2.0
// map/local_search: what every exchange would bring, kept up to date; for small programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/map/pulse.hpp"
#include "rankloom/map/senders.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {

/// One number for each pair of a rank and an *occupant*: another rank, or a free slot, which counts as an occupant
/// without traffic. After the exchange of r and s only their own rows are computed afresh; every other pair (u, v)
/// changes by a product of differences (Taillard 1991, for asymmetric tables and two kinds of traffic), so a step costs
/// O((ranks + degree) x occupants). Under the congestion model all pairs are computed afresh.
class ExchangeTable {
 public:
  /// Pairs that a table may hold: 8 bytes each.
  static constexpr std::uint64_t most_pairs = std::uint64_t{1} << 20;
  static bool fits(const MapProblem& problem);

  /// `senders` of the seating's graph; shared by tables that live side by side.
  ExchangeTable(Seating& seating, const Senders& senders, Pulse& pulse);

  /// An exchange of two occupants, the first a rank.
  struct Exchange {
    std::uint32_t rank, other;  ///< rank < other.
    double delta;
  };
  Exchange exchange(std::uint32_t one, std::uint32_t other) const;

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t occupants() const { return occupants_; }
  /// The first of the best; none when there is no pair, or the time is up.
  std::optional<Exchange> best() const;
  /// Computes one entry from the traffic again, free of what rounding has left in the table.
  double correct(const Exchange& exchange);
  /// Done twice, it is undone.
  void apply(const Exchange& exchange);

 private:
  /// What an exchange of r and s does to one kind of traffic, by occupant: the pair (u, v) changes by
  /// -(flow[u] - flow[v]) x (way[u] - way[v]).
  struct Shift {
    std::vector<double> flow, way;
  };

  const double& at(std::uint32_t rank, std::uint32_t other) const {
    return delta_[std::size_t{rank} * occupants_ + other];
  }
  double& at(std::uint32_t rank, std::uint32_t other) { return delta_[std::size_t{rank} * occupants_ + other]; }
  Core core_of(std::uint32_t occupant) const;
  double compute(std::uint32_t rank, std::uint32_t other);
  void compute_all();
  void compute_row(std::uint32_t occupant);
  void prepare_shifts(std::uint32_t r, std::uint32_t s);
  void add_flows(std::uint32_t occupant, double sign);
  void shift_all();

  Seating& seating_;
  const Senders& senders_;
  Pulse& pulse_;
  std::uint32_t ranks_, occupants_;
  std::optional<Distance> distance_;  // none: congestion
  bool with_messages_ = false;
  std::vector<Core> free_slots_;  // occupant ranks_ + i sits on free_slots_[i]
  std::vector<double> delta_;     // ranks x occupants, used where other > rank
  Shift bytes_out_, bytes_in_, messages_out_, messages_in_;
};

}  // namespace rankloom
