// SPDX-License-Identifier: Apache-2.0
// map/local_search: steepest descent with a table of all exchanges, and iterated local search; for small programs.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/reverse_adjacency.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// The delta of every exchange of a rank with an *occupant*: another rank, or a free slot, which counts as an occupant
/// without traffic. After the exchange of r and s only their rows are recomputed; every other pair (u, v) changes by a
/// product of differences (Taillard 1991, extended to asymmetric matrices and to bytes and messages), so a step costs
/// O((ranks + degree) x occupants). Under the congestion model all pairs are recomputed.
class ExchangeTable {
 public:
  /// The largest number of pairs of a table; 8 bytes each.
  static constexpr std::uint64_t max_pairs = std::uint64_t{1} << 20;
  static bool fits(const MapProblem& problem);

  /// `reverse_adjacency`: of the state's graph; tables of the same graph share it.
  ExchangeTable(PlacementState& state, const ReverseAdjacency& reverse_adjacency, StopCondition& stop_condition);

  /// An exchange of two occupants, the first a rank.
  struct Exchange {
    std::uint32_t rank, other;  ///< rank < other.
    double delta;
  };
  Exchange exchange(std::uint32_t a, std::uint32_t b) const;

  std::uint32_t ranks() const { return ranks_; }
  std::uint32_t occupants() const { return occupants_; }
  /// The exchange with the lowest delta, the first of equals. Empty when there is no pair or the search has to stop.
  std::optional<Exchange> best() const;
  /// Recomputes one entry from the traffic, without the rounding errors that have accumulated in the table.
  double recompute(const Exchange& exchange);
  /// Applying the same exchange twice restores the placement.
  void apply(const Exchange& exchange);

 private:
  /// The effect of the exchange of r and s on one kind of traffic, by occupant: the delta of the pair (u, v) changes by
  /// -(flow[u] - flow[v]) x (distance[u] - distance[v]).
  struct Update {
    std::vector<double> flow, distance;
  };

  const double& at(std::uint32_t rank, std::uint32_t other) const {
    return delta_[std::size_t{rank} * occupants_ + other];
  }
  double& at(std::uint32_t rank, std::uint32_t other) { return delta_[std::size_t{rank} * occupants_ + other]; }
  Core core_of(std::uint32_t occupant) const;
  double compute(std::uint32_t rank, std::uint32_t other);
  void compute_all();
  void compute_row(std::uint32_t occupant);
  void prepare_updates(std::uint32_t r, std::uint32_t s);
  void add_flows(std::uint32_t occupant, double sign);
  void update_all();

  PlacementState& state_;
  const ReverseAdjacency& incoming_;
  StopCondition& stop_condition_;
  std::uint32_t ranks_, occupants_;
  std::optional<Distance> distance_;  // empty for the congestion model
  bool with_messages_ = false;
  std::vector<Core> free_slots_;  // the core of occupant ranks_ + i is free_slots_[i]
  std::vector<double> delta_;     // ranks x occupants, used where other > rank
  Update bytes_out_, bytes_in_, messages_out_, messages_in_;
};

/// Applies the best of all exchanges and moves until there is no gain. Then, `kicks` times: perturbs the placement by a
/// few random exchanges, descends again, and returns to the previous optimum unless the new one is at least as good
/// (iterated local search: Lourenço, Martin, Stützle 2003). There are no kicks under the congestion model, where every
/// step evaluates all pairs. Where the table of all exchanges would be too large, one NeighbourhoodDescent runs
/// instead.
void descend_steepest(PlacementState& state, const ReverseAdjacency& reverse_adjacency, std::uint64_t kicks,
                      Random& random, StopCondition& stop_condition);

}  // namespace rankloom
