// SPDX-License-Identifier: Apache-2.0
// map/local_search: a descent that evaluates only cores close to a rank's communication partners; for large programs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/local_search/neighbourhood.hpp"
#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// A queue contains the ranks that may have a gain, initially all. For the rank at its head, the descent estimates the
/// gain of moving close to each of its partners, and evaluates the moves and exchanges in the best regions. The best
/// gain is applied; the moved ranks and their partners enter the queue again. A rank without a gain leaves the queue.
/// The descent ends when the queue is empty.
///
/// In an exchange with a gain, at least one of the two ranks gains by its move (apart from the traffic between them),
/// so it suffices that each rank considers regions where it would gain itself. A turn evaluates at most `max_regions`
/// regions, at O(degree) per candidate. A *hub*, a rank with far more partners than the others, gets a turn only at the
/// start and takes no part in exchanges of others, so that the total time stays near-linear in the edges.
class NeighbourhoodDescent {
 public:
  /// With a limit, changes that would overload a core are skipped, and the limit's loads are kept up to date. With
  /// parts, by rank, only ranks of the same part are exchanged; then there must be no free slots.
  explicit NeighbourhoodDescent(PlacementState& state, LoadLimit* limit = nullptr,
                                std::span<const std::uint32_t> part_of = {});
  void run(StopCondition& stop_condition);

 private:
  static constexpr std::size_t max_probes = 64;
  static constexpr std::size_t max_regions = 4;
  static constexpr std::uint32_t max_ranks_per_core = 8;

  struct PromisingRegion {
    double delta;
    Neighbourhood::Region region;
  };

  Change best_change_nearby(Rank rank, StopCondition& stop_condition);
  void find_promising_regions(Rank rank);
  void evaluate_region(Rank rank, const Neighbourhood::Region& region, Change& best);
  void requeue_around(Rank rank);
  void enqueue(Rank rank);
  bool may_exchange(Rank a, Rank b) const { return part_of_.empty() || part_of_[index(a)] == part_of_[index(b)]; }
  bool is_hub(Rank rank) const { return state_.neighbours(rank).size() > hub_degree_; }

  PlacementState& state_;
  LoadLimit* limit_;
  std::span<const std::uint32_t> part_of_;
  Neighbourhood neighbourhood_;
  std::size_t hub_degree_;
  std::uint64_t turn_ = 0;
  std::vector<Rank> queue_;  // a ring buffer
  std::size_t head_ = 0, waiting_ = 0;
  IdVector<Rank, bool> queued_;
  std::vector<PromisingRegion> promising_;       // scratch
  std::vector<Neighbourhood::Region> regions_;   // scratch
  std::vector<Neighbourhood::Region> examined_;  // scratch
  std::vector<Core> cores_;                      // scratch
};

}  // namespace rankloom
