// SPDX-License-Identifier: Apache-2.0
// map/local_search: the state of a local search: the placement, the ranks of every core, the cores with free slots, the
// cost, and the load of every core where loads are bounded.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/model/cost/incremental_cost.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// One step of a local search: the rank moves to `to`; `partner`, if set, moves to the rank's core.
struct Change {
  double delta = 0;  ///< Change of the objective; negative is a gain.
  Rank rank{};
  Core to{};
  std::optional<Rank> partner;
};

/// Keeps cost and occupancy consistent. The caller must respect the capacities: a rank may only move to a core with a
/// free slot. O(ranks + cores) memory in addition to that of the incremental cost.
class PlacementState {
 public:
  /// `start` is a valid placement. The problem's values must outlive the object.
  PlacementState(const MapProblem& problem, std::span<const Core> start);
  /// With another cost than that of the problem's model; it has the same placement.
  PlacementState(const MapProblem& problem, std::span<const Core> start, std::unique_ptr<IncrementalCost> cost);

  const MapProblem& problem() const { return *problem_; }
  std::uint32_t rank_count() const { return problem_->graph.rank_count(); }
  double cost() const { return cost_->cost(); }
  const std::vector<Core>& placement() const { return cost_->placement(); }
  Core core_of(Rank rank) const { return cost_->core_of(rank); }
  std::span<const Rank> neighbours(Rank rank) const { return cost_->neighbours(rank); }

  std::vector<Rank> ranks_in_the_way() const { return cost_->ranks_in_the_way(); }

  bool has_free_slot(Core core) const { return occupants_[core] < problem_->capacities[core]; }
  /// Cores with a free slot. The order is unspecified but deterministic.
  std::span<const Core> open_cores() const { return open_; }

  /// The ranks of a core, in unspecified order: for (auto r = first_on(c); r; r = next_on_core(*r)).
  std::optional<Rank> first_on(Core core) const { return optional_rank(first_[core]); }
  std::optional<Rank> next_on_core(Rank rank) const { return optional_rank(next_[rank]); }

  Change try_move(Rank rank, Core to) { return {cost_->move_delta(rank, to), rank, to, std::nullopt}; }
  Change try_exchange(Rank a, Rank b) { return {cost_->exchange_delta(a, b), a, core_of(b), b}; }
  void apply(const Change& change);

  /// A gain beyond rounding errors. Searches apply only such changes, so they terminate and never increase the cost.
  bool is_gain(double delta) const { return delta < -tolerance_; }
  /// Whether a change affects only the deltas of the moved ranks and of their neighbours. That is not so for
  /// models where ranks share links.
  bool deltas_are_local() const { return pairwise_model(problem_->model) == problem_->model; }

 private:
  static constexpr Rank invalid_rank{std::numeric_limits<std::uint32_t>::max()};
  static constexpr std::uint32_t not_open = std::numeric_limits<std::uint32_t>::max();
  static std::optional<Rank> optional_rank(Rank rank) {
    return rank == invalid_rank ? std::nullopt : std::optional(rank);
  }

  void insert(Rank rank, Core core);
  void erase(Rank rank, Core core);
  void mark_open(Core core);
  void mark_full(Core core);

  const MapProblem* problem_;
  std::unique_ptr<IncrementalCost> cost_;
  double tolerance_;
  IdVector<Core, std::uint32_t> occupants_;
  IdVector<Core, Rank> first_;  // a doubly linked list of the ranks on each core
  IdVector<Rank, Rank> next_, previous_;
  std::vector<Core> open_;
  IdVector<Core, std::uint32_t> open_position_;
};

/// The load of every core, next to a PlacementState; apply() is called before PlacementState::apply. A change is
/// admissible when every core whose load increases stays within the limit. O(1) per call, 8 bytes per core.
class LoadLimit {
 public:
  /// The graph must outlive the object.
  LoadLimit(const CommGraph& graph, const Topology& topology, std::span<const Core> placement, double limit)
      : graph_(&graph), limit_(limit), load_on_(topology.core_count(), 0.0) {
    for (const Rank rank : graph.ranks()) load_on_[placement[index(rank)]] += graph.load(rank);
  }

  double limit() const { return limit_; }
  double load_on(Core core) const { return load_on_[core]; }
  bool exceeded() const {
    return std::any_of(load_on_.begin(), load_on_.end(), [&](double load) { return load > limit_; });
  }
  /// The load that the core can still take; negative when it is overloaded.
  double free_load_on(Core core) const { return limit_ - load_on_[core]; }

  bool admits_move(Rank rank, Core to) const { return load_on_[to] + graph_->load(rank) <= limit_; }
  bool admits_exchange(Rank a, Rank b, const PlacementState& state) const {
    const double shift = graph_->load(a) - graph_->load(b);  // from a's core to b's
    return shift == 0 || load_on_[state.core_of(shift > 0 ? b : a)] + (shift > 0 ? shift : -shift) <= limit_;
  }

  /// The change of the total load above the limit.
  double overload_delta(const Change& change, const PlacementState& state) const {
    const double shift = graph_->load(change.rank) - (change.partner ? graph_->load(*change.partner) : 0);
    const double from = load_on_[state.core_of(change.rank)];
    const double to = load_on_[change.to];
    return overload(from - shift) + overload(to + shift) - overload(from) - overload(to);
  }

  void apply(const Change& change, const PlacementState& state) {
    const double shift = graph_->load(change.rank) - (change.partner ? graph_->load(*change.partner) : 0);
    load_on_[state.core_of(change.rank)] -= shift;
    load_on_[change.to] += shift;
  }

 private:
  double overload(double load) const { return load > limit_ ? load - limit_ : 0; }

  const CommGraph* graph_;
  double limit_;
  IdVector<Core, double> load_on_;
};

/// The best of all exchanges with other ranks and all moves to free slots; delta 0 when there is no gain.
/// O((ranks + open cores) x degree).
Change best_change(PlacementState& state, Rank rank, StopCondition& stop_condition);

/// The start of the problem, or the block placement if the problem has none.
std::vector<Core> start_of(const MapProblem& problem);

}  // namespace rankloom
