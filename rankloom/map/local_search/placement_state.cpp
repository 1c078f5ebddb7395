// SPDX-License-Identifier: Apache-2.0
// map/local_search: the state of a local search.
#include "rankloom/map/local_search/placement_state.hpp"

#include <cassert>
#include <cmath>

namespace rankloom {
namespace {

/// Far above the rounding errors of a rank's cost, far below any useful gain.
constexpr double relative_tolerance = 1e-12;

}  // namespace

PlacementState::PlacementState(const MapProblem& problem, std::span<const Core> start)
    : PlacementState(problem, start, make_incremental_cost(problem.graph, problem.topology, problem.model, start)) {}

PlacementState::PlacementState(const MapProblem& problem, [[maybe_unused]] std::span<const Core> start,
                               std::unique_ptr<IncrementalCost> cost)
    : problem_(&problem),
      cost_(std::move(cost)),
      tolerance_(relative_tolerance * std::abs(cost_->cost())),
      occupants_(problem.topology.core_count(), 0),
      first_(problem.topology.core_count(), invalid_rank),
      next_(problem.graph.rank_count(), invalid_rank),
      previous_(problem.graph.rank_count(), invalid_rank),
      open_position_(problem.topology.core_count(), not_open) {
  assert(start.size() == problem.graph.rank_count());
  // In decreasing order, because insert() prepends: the lists are then sorted by increasing rank.
  for (std::uint32_t rank = rank_count(); rank-- > 0;) {
    const Core core = core_of(Rank{rank});
    ++occupants_[core];
    insert(Rank{rank}, core);
  }
  for (const Core core : problem.topology.cores()) {
    assert(occupants_[core] <= problem.capacities[core]);
    if (has_free_slot(core)) mark_open(core);
  }
}

void PlacementState::apply(const Change& change) {
  const Core from = core_of(change.rank);
  erase(change.rank, from);
  if (change.partner) {
    assert(core_of(*change.partner) == change.to);
    erase(*change.partner, change.to);
    cost_->exchange(change.rank, *change.partner);
    insert(*change.partner, from);
  } else {
    assert(has_free_slot(change.to));
    if (!has_free_slot(from)) mark_open(from);
    --occupants_[from];
    cost_->move(change.rank, change.to);
    if (++occupants_[change.to] == problem_->capacities[change.to]) mark_full(change.to);
  }
  insert(change.rank, change.to);
}

void PlacementState::insert(Rank rank, Core core) {
  previous_[rank] = invalid_rank;
  next_[rank] = first_[core];
  if (first_[core] != invalid_rank) previous_[first_[core]] = rank;
  first_[core] = rank;
}

void PlacementState::erase(Rank rank, Core core) {
  if (previous_[rank] != invalid_rank) {
    next_[previous_[rank]] = next_[rank];
  } else {
    first_[core] = next_[rank];
  }
  if (next_[rank] != invalid_rank) previous_[next_[rank]] = previous_[rank];
}

void PlacementState::mark_open(Core core) {
  open_position_[core] = static_cast<std::uint32_t>(open_.size());
  open_.push_back(core);
}

void PlacementState::mark_full(Core core) {
  const std::uint32_t position = open_position_[core];
  open_[position] = open_.back();
  open_position_[open_[position]] = position;
  open_.pop_back();
  open_position_[core] = not_open;
}

Change best_change(PlacementState& state, Rank rank, StopCondition& stop_condition) {
  Change best;
  const Core current = state.core_of(rank);
  for (const Rank other : state.problem().graph.ranks()) {
    if (stop_condition.should_stop()) return best;
    if (state.core_of(other) == current) continue;
    if (const Change change = state.try_exchange(rank, other); change.delta < best.delta) best = change;
  }
  for (const Core core : state.open_cores()) {
    if (stop_condition.should_stop()) return best;
    if (core == current) continue;
    if (const Change change = state.try_move(rank, core); change.delta < best.delta) best = change;
  }
  return best;
}

std::vector<Core> start_of(const MapProblem& problem) {
  if (problem.start.empty()) return block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
  return {problem.start.begin(), problem.start.end()};
}

}  // namespace rankloom
