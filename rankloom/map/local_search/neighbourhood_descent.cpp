// SPDX-License-Identifier: Apache-2.0
// map/local_search: a descent that looks only where a rank's partners sit; for large programs.
#include "rankloom/map/local_search/neighbourhood_descent.hpp"

#include <algorithm>

namespace rankloom {
namespace {

std::size_t hub_degree(const Seating& seating) {
  const std::size_t average = seating.problem().graph.edge_count() / std::max<std::size_t>(1, seating.rank_count());
  return std::max<std::size_t>(1024, 16 * average);
}

}  // namespace

NeighbourhoodDescent::NeighbourhoodDescent(Seating& seating, LoadLimit* limit)
    : seating_(seating),
      limit_(limit),
      vicinity_(seating.problem().topology),
      hub_degree_(hub_degree(seating)),
      queue_(seating.rank_count()),
      queued_(seating.rank_count(), false) {
  for (const Rank rank : seating.problem().graph.ranks()) enqueue(rank);
}

void NeighbourhoodDescent::run(Pulse& pulse) {
  while (waiting_ > 0 && !pulse.stopped()) {
    const Rank rank = queue_[head_];
    head_ = (head_ + 1) % queue_.size();
    --waiting_;
    queued_[rank] = false;
    ++turn_;
    const Change change = best_nearby(rank, pulse);
    if (!seating_.is_gain(change.delta)) continue;
    if (limit_ != nullptr) limit_->apply(change, seating_);
    seating_.apply(change);
    requeue_around(rank);
    if (change.partner) requeue_around(*change.partner);
  }
}

Change NeighbourhoodDescent::best_nearby(Rank rank, Pulse& pulse) {
  Change best;
  if (pulse.stop()) return best;
  find_prospects(rank);
  const std::size_t tried = std::min(prospects_.size(), most_regions);
  std::partial_sort(prospects_.begin(), prospects_.begin() + static_cast<std::ptrdiff_t>(tried), prospects_.end(),
                    [](const Prospect& a, const Prospect& b) { return a.delta < b.delta; });
  for (std::size_t at = 0; at < tried && !pulse.stop(); ++at) {
    try_region(rank, prospects_[at].region, best);
    if (seating_.is_gain(best.delta)) break;
  }
  return best;
}

void NeighbourhoodDescent::find_prospects(Rank rank) {
  prospects_.clear();
  seen_.clear();
  const std::size_t leaf = seating_.problem().topology.levels().size() - 1;
  const auto partners = seating_.neighbours(rank);
  const std::size_t looked_at = std::min(partners.size(), most_probes);
  for (std::size_t at = 0; at < looked_at && seen_.size() < most_probes; ++at) {
    const Core centre = seating_.core_of(partners[at * partners.size() / looked_at]);
    regions_.clear();
    vicinity_.regions(seating_.core_of(rank), centre, regions_);
    for (const Vicinity::Region& region : regions_) {
      // A core that holds one rank holds nobody but the partner itself.
      if (region.level == leaf && seating_.problem().capacities[centre] == 1) continue;
      if (std::find(seen_.begin(), seen_.end(), region) != seen_.end()) continue;
      seen_.push_back(region);
      const double delta = seating_.try_move(rank, vicinity_.probe(region, centre)).delta;
      if (seating_.is_gain(delta)) prospects_.push_back({delta, region});
    }
  }
}

void NeighbourhoodDescent::try_region(Rank rank, const Vicinity::Region& region, Change& best) {
  const auto offer = [&](const Change& change) {
    if (change.delta < best.delta) best = change;
  };
  cores_.clear();
  vicinity_.cores(region, turn_, cores_);
  for (const Core core : cores_) {
    if (core == seating_.core_of(rank)) continue;
    if (seating_.has_room(core) && (limit_ == nullptr || limit_->admits_move(rank, core))) {
      offer(seating_.try_move(rank, core));
    }
    std::uint32_t tried = 0;
    for (auto other = seating_.first_on(core); other && tried < most_on_core; other = seating_.next_on_core(*other)) {
      if (limit_ != nullptr && !limit_->admits_swap(rank, *other, seating_)) continue;
      ++tried;
      if (!is_hub(*other)) offer(seating_.try_swap(rank, *other));
    }
  }
}

void NeighbourhoodDescent::requeue_around(Rank rank) {
  if (!is_hub(rank)) enqueue(rank);
  for (const Rank partner : seating_.neighbours(rank)) {
    if (!is_hub(partner)) enqueue(partner);
  }
}

void NeighbourhoodDescent::enqueue(Rank rank) {
  if (queued_[rank]) return;
  queued_[rank] = true;
  queue_[(head_ + waiting_++) % queue_.size()] = rank;
}

}  // namespace rankloom
