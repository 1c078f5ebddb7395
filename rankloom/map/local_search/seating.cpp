// SPDX-License-Identifier: Apache-2.0
// map/local_search: a placement under search.
#include "rankloom/map/local_search/seating.hpp"

#include <cassert>
#include <cmath>

namespace rankloom {
namespace {

/// Far above what adding up a rank's traffic can round away, far below any gain worth a step.
constexpr double relative_tolerance = 1e-12;

}  // namespace

Seating::Seating(const MapProblem& problem, std::span<const Core> start)
    : problem_(&problem),
      cost_(make_incremental_cost(problem.graph, problem.topology, problem.model, start)),
      tolerance_(relative_tolerance * std::abs(cost_->cost())),
      occupants_(problem.topology.core_count(), 0),
      first_(problem.topology.core_count(), nobody),
      next_(problem.graph.rank_count(), nobody),
      previous_(problem.graph.rank_count(), nobody),
      open_position_(problem.topology.core_count(), closed) {
  assert(start.size() == problem.graph.rank_count());
  // Backwards, so that the lists and the open cores begin in rising order.
  for (std::uint32_t rank = rank_count(); rank-- > 0;) {
    const Core core = core_of(Rank{rank});
    ++occupants_[core];
    sit_down(Rank{rank}, core);
  }
  for (const Core core : problem.topology.cores()) {
    assert(occupants_[core] <= problem.capacities[core]);
    if (has_room(core)) open(core);
  }
}

void Seating::apply(const Change& change) {
  const Core from = core_of(change.rank);
  stand_up(change.rank, from);
  if (change.partner) {
    assert(core_of(*change.partner) == change.to);
    stand_up(*change.partner, change.to);
    cost_->swap(change.rank, *change.partner);
    sit_down(*change.partner, from);
  } else {
    assert(has_room(change.to));
    if (!has_room(from)) open(from);
    --occupants_[from];
    cost_->move(change.rank, change.to);
    if (++occupants_[change.to] == problem_->capacities[change.to]) close(change.to);
  }
  sit_down(change.rank, change.to);
}

void Seating::sit_down(Rank rank, Core core) {
  previous_[rank] = nobody;
  next_[rank] = first_[core];
  if (first_[core] != nobody) previous_[first_[core]] = rank;
  first_[core] = rank;
}

void Seating::stand_up(Rank rank, Core core) {
  if (previous_[rank] != nobody) {
    next_[previous_[rank]] = next_[rank];
  } else {
    first_[core] = next_[rank];
  }
  if (next_[rank] != nobody) previous_[next_[rank]] = previous_[rank];
}

void Seating::open(Core core) {
  open_position_[core] = static_cast<std::uint32_t>(open_.size());
  open_.push_back(core);
}

void Seating::close(Core core) {
  const std::uint32_t position = open_position_[core];
  open_[position] = open_.back();
  open_position_[open_[position]] = position;
  open_.pop_back();
  open_position_[core] = closed;
}

Change best_change(Seating& seating, Rank rank, Pulse& pulse) {
  Change best;
  const Core here = seating.core_of(rank);
  for (const Rank other : seating.problem().graph.ranks()) {
    if (pulse.stop()) return best;
    if (seating.core_of(other) == here) continue;
    if (const Change change = seating.try_swap(rank, other); change.delta < best.delta) best = change;
  }
  for (const Core core : seating.open_cores()) {
    if (pulse.stop()) return best;
    if (core == here) continue;
    if (const Change change = seating.try_move(rank, core); change.delta < best.delta) best = change;
  }
  return best;
}

std::vector<Core> start_of(const MapProblem& problem) {
  if (problem.start.empty()) return block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
  return {problem.start.begin(), problem.start.end()};
}

}  // namespace rankloom
