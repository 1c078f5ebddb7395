// SPDX-License-Identifier: Apache-2.0
// map/local_search: the neighbourhood descent, and the mapper `refine` that runs it.
#include "rankloom/map/local_search/neighbourhood_descent.hpp"

#include <algorithm>

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
      queued_(state.rank_count(), false) {
  for (const Rank rank : state.problem().graph.ranks()) enqueue(rank);
}

void NeighbourhoodDescent::run(StopCondition& stop_condition) {
  const TimedSection timing("neighbourhood descent");
  while (waiting_ > 0 && !stop_condition.stopped()) {
    const Rank rank = queue_[head_];
    head_ = (head_ + 1) % queue_.size();
    --waiting_;
    queued_[rank] = false;
    ++turn_;
    const Change change = best_change_nearby(rank, stop_condition);
    if (!state_.is_gain(change.delta)) continue;
    if (limit_ != nullptr) limit_->apply(change, state_);
    state_.apply(change);
    requeue_around(rank);
    if (change.partner) requeue_around(*change.partner);
  }
}

Change NeighbourhoodDescent::best_change_nearby(Rank rank, StopCondition& stop_condition) {
  Change best;
  if (stop_condition.should_stop()) return best;
  find_promising_regions(rank);
  const std::size_t tried = std::min(promising_.size(), max_regions);
  std::partial_sort(promising_.begin(), promising_.begin() + static_cast<std::ptrdiff_t>(tried), promising_.end(),
                    [](const PromisingRegion& a, const PromisingRegion& b) { return a.delta < b.delta; });
  for (std::size_t at = 0; at < tried && !stop_condition.should_stop(); ++at) {
    evaluate_region(rank, promising_[at].region, best);
    if (state_.is_gain(best.delta)) break;
  }
  return best;
}

void NeighbourhoodDescent::find_promising_regions(Rank rank) {
  promising_.clear();
  examined_.clear();
  const std::size_t leaf = state_.problem().topology.levels().size() - 1;
  const auto partners = state_.neighbours(rank);
  const std::size_t looked_at = std::min(partners.size(), max_probes);
  for (std::size_t at = 0; at < looked_at && examined_.size() < max_probes; ++at) {
    const Core centre = state_.core_of(partners[at * partners.size() / looked_at]);
    regions_.clear();
    neighbourhood_.regions(state_.core_of(rank), centre, regions_);
    for (const Neighbourhood::Region& region : regions_) {
      // A core with one slot contains only the partner itself.
      if (region.level == leaf && state_.problem().capacities[centre] == 1) continue;
      if (std::find(examined_.begin(), examined_.end(), region) != examined_.end()) continue;
      examined_.push_back(region);
      const double delta = state_.try_move(rank, neighbourhood_.probe(region, centre)).delta;
      if (state_.is_gain(delta)) promising_.push_back({delta, region});
    }
  }
}

void NeighbourhoodDescent::evaluate_region(Rank rank, const Neighbourhood::Region& region, Change& best) {
  const auto offer = [&](const Change& change) {
    if (change.delta < best.delta) best = change;
  };
  cores_.clear();
  neighbourhood_.cores(region, turn_, cores_);
  for (const Core core : cores_) {
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
