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
///
/// The next turns of the queue are evaluated in parallel, all on the same placement. They are applied in order; a turn
/// that looked at a rank or a core that an earlier turn has changed is evaluated again. So the result is that of one
/// turn after another.
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
  /// Turns that are evaluated in parallel, and those of one chunk.
  static constexpr std::size_t max_turns = 512;
  static constexpr std::size_t turns_of_chunk = 16;

  struct PromisingRegion {
    double delta;
    Neighbourhood::Region region;
  };
  struct Scratch {
    std::vector<PromisingRegion> promising;
    std::vector<Neighbourhood::Region> regions, examined;
  };
  /// The turn of a rank, and its result.
  struct Turn {
    Rank rank{};
    std::uint64_t number = 0;
    Change best = {};
    std::vector<Core> cores = {};  ///< That were evaluated.
  };

  void run_turns_in_parallel(StopCondition& stop_condition);
  /// Takes the rank at the head of the queue.
  Turn next_turn();
  void evaluate(Turn& turn, Scratch& scratch, StopCondition& stop_condition) const;
  void find_promising_regions(Rank rank, Scratch& scratch) const;
  void evaluate_region(Turn& turn, const Neighbourhood::Region& region) const;
  /// Whether a change after `time` can have changed the result of the turn.
  bool is_outdated(const Turn& turn, std::uint64_t time) const;
  void apply(const Change& change);
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
  std::uint64_t changes_ = 0;
  /// The number of the last change that moved the rank or one of its partners, or a rank to or from the core; 0: none.
  IdVector<Rank, std::uint64_t> rank_changed_;
  IdVector<Core, std::uint64_t> core_changed_;
};

}  // namespace rankloom
