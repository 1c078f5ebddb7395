// SPDX-License-Identifier: Apache-2.0
// map/local_search: a placement under search: who sits where, who shares a core, which cores have room, and the cost.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/pulse.hpp"
#include "rankloom/model/incremental_cost.hpp"

namespace rankloom {

/// One step of a local search: the rank goes to `to`, and `partner`, if there is one, comes to the rank's core.
struct Change {
  double delta = 0;  ///< Of the objective; negative is a gain.
  Rank rank{};
  Core to{};
  std::optional<Rank> partner;
};

/// Keeps cost and occupancy in step. Changes that would break the capacities are the caller's fault: move only to a core
/// that has_room. O(ranks + cores) memory beside the cost's own.
class Seating {
 public:
  /// `start` is a valid placement. The problem's values must outlive it.
  Seating(const MapProblem& problem, std::span<const Core> start);

  const MapProblem& problem() const { return *problem_; }
  std::uint32_t rank_count() const { return problem_->graph.rank_count(); }
  double cost() const { return cost_->cost(); }
  const std::vector<Core>& placement() const { return cost_->placement(); }
  Core core_of(Rank rank) const { return cost_->core_of(rank); }
  std::span<const Rank> neighbours(Rank rank) const { return cost_->neighbours(rank); }

  bool has_room(Core core) const { return occupants_[core] < problem_->capacities[core]; }
  /// Cores with room, in no particular order (but the same one for the same history).
  std::span<const Core> open_cores() const { return open_; }

  /// Those who sit on a core, in no particular order: for (auto r = first_on(c); r; r = next_on_core(*r)).
  std::optional<Rank> first_on(Core core) const { return some(first_[core]); }
  std::optional<Rank> next_on_core(Rank rank) const { return some(next_[rank]); }

  Change try_move(Rank rank, Core to) { return {cost_->move_delta(rank, to), rank, to, std::nullopt}; }
  Change try_swap(Rank a, Rank b) { return {cost_->swap_delta(a, b), a, core_of(b), b}; }
  void apply(const Change& change);

  /// A gain beyond rounding. Searches take only such steps, so they end, and never above their start.
  bool is_gain(double delta) const { return delta < -tolerance_; }
  /// Whether a change alters only the deltas of those it moves and of their neighbours; not so for congestion, where
  /// any change may alter which link is the hottest.
  bool deltas_are_local() const { return problem_->model != CostModel::congestion; }

 private:
  static constexpr Rank nobody{std::numeric_limits<std::uint32_t>::max()};
  static constexpr std::uint32_t closed = std::numeric_limits<std::uint32_t>::max();
  static std::optional<Rank> some(Rank rank) { return rank == nobody ? std::nullopt : std::optional(rank); }

  void sit_down(Rank rank, Core core);
  void stand_up(Rank rank, Core core);
  void open(Core core);
  void close(Core core);

  const MapProblem* problem_;
  std::unique_ptr<IncrementalCost> cost_;
  double tolerance_;
  IdVector<Core, std::uint32_t> occupants_;
  IdVector<Core, Rank> first_;  // a doubly linked list of the ranks on each core
  IdVector<Rank, Rank> next_, previous_;
  std::vector<Core> open_;
  IdVector<Core, std::uint32_t> open_position_;
};

/// The best of all exchanges with other ranks and moves to cores with room; delta 0 when none gains. O((ranks + open
/// cores) x degree).
Change best_change(Seating& seating, Rank rank, Pulse& pulse);

/// Where a search with a start begins: what the problem says, or the block placement.
std::vector<Core> start_of(const MapProblem& problem);

}  // namespace rankloom
