// SPDX-License-Identifier: Apache-2.0
// map/local_search: the neighbourhood descent, and the mapper `refine` that runs it.
#include "rankloom/map/local_search/neighbourhood_descent.hpp"

#include <algorithm>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/mapper_factories.hpp"

namespace rankloom {
namespace {

std::size_t hub_degree(const PlacementState& state) {
  const std::size_t average = state.problem().graph.edge_count() / std::max<std::size_t>(1, state.rank_count());
  return std::max<std::size_t>(1024, 16 * average);
}

}  // namespace

NeighbourhoodDescent::NeighbourhoodDescent(PlacementState& state, LoadLimit* limit,
                                           std::span<const std::uint32_t> part_of)
    : state_(state),
      limit_(limit),
      part_of_(part_of),
      neighbourhood_(state.problem().topology),
      hub_degree_(hub_degree(state)),
      queue_(state.rank_count()),
      queued_(state.rank_count(), false),
      rank_changed_(state.rank_count(), 0),
      core_changed_(state.problem().topology.core_count(), 0) {
  for (const Rank rank : state.problem().graph.ranks()) enqueue(rank);
}

void NeighbourhoodDescent::run(StopCondition& stop_condition) {
  const TimedSection timing("neighbourhood descent");
  // On one thread, it would only evaluate outdated turns twice.
  if (state_.deltas_are_local() && thread_count() > 1) return run_turns_in_parallel(stop_condition);
  Scratch scratch;
  while (waiting_ > 0 && !stop_condition.stopped()) {
    Turn turn = next_turn();
    evaluate(turn, scratch, stop_condition);
    if (state_.is_gain(turn.best.delta)) apply(turn.best);
  }
}

void NeighbourhoodDescent::run_turns_in_parallel(StopCondition& stop_condition) {
  std::vector<Turn> turns;
  Scratch scratch;
  while (waiting_ > 0 && !stop_condition.should_stop_now()) {
    turns.resize(std::min(waiting_, max_turns));
    for (std::size_t at = 0; at < turns.size(); ++at) {
      turns[at].rank = queue_[(head_ + at) % queue_.size()];
      turns[at].number = turn_ + at + 1;
    }
    parallel_chunks(turns.size(), turns_of_chunk, [&](std::size_t begin, std::size_t end) {
      Scratch of_chunk;
      StopCondition deadline = stop_condition.for_another_thread();
      for (std::size_t at = begin; at < end; ++at) evaluate(turns[at], of_chunk, deadline);
    });
    const std::uint64_t time = changes_;
    for (Turn& turn : turns) {
      if (stop_condition.should_stop()) break;
      next_turn();
      if (is_outdated(turn, time)) evaluate(turn, scratch, stop_condition);
      if (state_.is_gain(turn.best.delta)) apply(turn.best);
    }
  }
}

NeighbourhoodDescent::Turn NeighbourhoodDescent::next_turn() {
  const Rank rank = queue_[head_];
  head_ = (head_ + 1) % queue_.size();
  --waiting_;
  queued_[rank] = false;
  return {rank, ++turn_};
}

void NeighbourhoodDescent::evaluate(Turn& turn, Scratch& scratch, StopCondition& stop_condition) const {
  turn.best = {};
  turn.cores.clear();
  if (stop_condition.should_stop()) return;
  find_promising_regions(turn.rank, scratch);
  auto& promising = scratch.promising;
  const std::size_t tried = std::min(promising.size(), max_regions);
  std::partial_sort(promising.begin(), promising.begin() + static_cast<std::ptrdiff_t>(tried), promising.end(),
                    [](const PromisingRegion& a, const PromisingRegion& b) { return a.delta < b.delta; });
  for (std::size_t at = 0; at < tried && !stop_condition.should_stop(); ++at) {
    evaluate_region(turn, promising[at].region);
    if (state_.is_gain(turn.best.delta)) break;
  }
}

void NeighbourhoodDescent::find_promising_regions(Rank rank, Scratch& scratch) const {
  scratch.promising.clear();
  scratch.examined.clear();
  const std::size_t leaf = state_.problem().topology.levels().size() - 1;
  const auto partners = state_.neighbours(rank);
  const std::size_t looked_at = std::min(partners.size(), max_probes);
  for (std::size_t at = 0; at < looked_at && scratch.examined.size() < max_probes; ++at) {
    const Core centre = state_.core_of(partners[at * partners.size() / looked_at]);
    scratch.regions.clear();
    neighbourhood_.regions(state_.core_of(rank), centre, scratch.regions);
    for (const Neighbourhood::Region& region : scratch.regions) {
      // A core with one slot contains only the partner itself.
      if (region.level == leaf && state_.problem().capacities[centre] == 1) continue;
      if (std::find(scratch.examined.begin(), scratch.examined.end(), region) != scratch.examined.end()) continue;
      scratch.examined.push_back(region);
      const double delta = state_.try_move(rank, neighbourhood_.probe(region, centre)).delta;
      if (state_.is_gain(delta)) scratch.promising.push_back({delta, region});
    }
  }
}

void NeighbourhoodDescent::evaluate_region(Turn& turn, const Neighbourhood::Region& region) const {
  const Rank rank = turn.rank;
  const auto offer = [&](const Change& change) {
    if (change.delta < turn.best.delta) turn.best = change;
  };
  const std::size_t begin = turn.cores.size();
  neighbourhood_.cores(region, turn.number, turn.cores);
  for (const Core core : std::span(turn.cores).subspan(begin)) {
    if (core == state_.core_of(rank)) continue;
    if (state_.has_free_slot(core) && (limit_ == nullptr || limit_->admits_move(rank, core))) {
      offer(state_.try_move(rank, core));
    }
    std::uint32_t tried = 0;
    for (auto other = state_.first_on(core); other && tried < max_ranks_per_core; other = state_.next_on_core(*other)) {
      if (limit_ != nullptr && !limit_->admits_exchange(rank, *other, state_)) continue;
      if (!may_exchange(rank, *other)) continue;
      ++tried;
      if (!is_hub(*other)) offer(state_.try_exchange(rank, *other));
    }
  }
}

bool NeighbourhoodDescent::is_outdated(const Turn& turn, std::uint64_t time) const {
  if (changes_ == time) return false;
  if (rank_changed_[turn.rank] > time || core_changed_[state_.core_of(turn.rank)] > time) return true;
  return std::any_of(turn.cores.begin(), turn.cores.end(), [&](Core core) {
    if (core_changed_[core] > time) return true;
    for (auto other = state_.first_on(core); other; other = state_.next_on_core(*other))
      if (rank_changed_[*other] > time) return true;
    return false;
  });
}

void NeighbourhoodDescent::apply(const Change& change) {
  ++changes_;
  const auto mark = [&](Rank rank) {
    core_changed_[state_.core_of(rank)] = rank_changed_[rank] = changes_;
    for (const Rank partner : state_.neighbours(rank)) rank_changed_[partner] = changes_;
  };
  mark(change.rank);
  core_changed_[change.to] = changes_;
  if (change.partner) mark(*change.partner);
  if (limit_ != nullptr) limit_->apply(change, state_);
  state_.apply(change);
  requeue_around(change.rank);
  if (change.partner) requeue_around(*change.partner);
}

void NeighbourhoodDescent::requeue_around(Rank rank) {
  if (!is_hub(rank)) enqueue(rank);
  for (const Rank partner : state_.neighbours(rank)) {
    if (!is_hub(partner)) enqueue(partner);
  }
}

void NeighbourhoodDescent::enqueue(Rank rank) {
  if (queued_[rank]) return;
  queued_[rank] = true;
  queue_[(head_ + waiting_++) % queue_.size()] = rank;
}

namespace {

/// The mapper `refine`: improves any placement, also of large programs.
class Refine final : public Mapper {
 public:
  Result<Placement> place(const MapProblem& problem, const MapRun& run) const override {
    PlacementState state(problem, start_of(problem));
    StopCondition stop_condition(run, "refine");
    NeighbourhoodDescent(state).run(stop_condition);
    return Placement{state.placement(), {}, std::string(stop_condition.stopped() ? stopped_note : "")};
  }
};

}  // namespace

std::unique_ptr<Mapper> make_refine() {
  return std::make_unique<Refine>();
}

}  // namespace rankloom
