// SPDX-License-Identifier: Apache-2.0
// map/local_search: a descent that looks only where a rank's partners sit; for large programs.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/local_search/load_limit.hpp"
#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/map/local_search/vicinity.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// A queue holds the ranks that may have something to gain, at first all. The rank at its head asks what it would be
/// worth to sit near each of its partners, and in the best regions tries the exchange with everybody there and every
/// free core; the best gain is taken, and all whose traffic changed join the queue. Whoever gains nothing leaves, so it
/// ends when the queue is empty.
///
/// In an exchange that gains, at least one of the two gains by its own move (their common traffic aside), so it is
/// enough that each rank looks at regions where it would gain itself. A turn tries at most `most_regions` regions and
/// costs O(degree) for each try; a *hub*, a rank with far more partners than the others, gets a turn only at the start
/// and is no partner for exchanges, so that the whole stays near-linear in the edges.
class NeighbourhoodDescent {
 public:
  /// With a limit, changes that would overload a core are left alone, and the limit is kept up to date.
  explicit NeighbourhoodDescent(Seating& seating, LoadLimit* limit = nullptr);
  void run(Pulse& pulse);

 private:
  static constexpr std::size_t most_probes = 64;
  static constexpr std::size_t most_regions = 4;
  static constexpr std::uint32_t most_on_core = 8;

  struct Prospect {
    double delta;
    Vicinity::Region region;
  };

  Change best_nearby(Rank rank, Pulse& pulse);
  void find_prospects(Rank rank);
  void try_region(Rank rank, const Vicinity::Region& region, Change& best);
  void requeue_around(Rank rank);
  void enqueue(Rank rank);
  bool is_hub(Rank rank) const { return seating_.neighbours(rank).size() > hub_degree_; }

  Seating& seating_;
  LoadLimit* limit_;
  Vicinity vicinity_;
  std::size_t hub_degree_;
  std::uint64_t turn_ = 0;
  std::vector<Rank> queue_;  // a ring
  std::size_t head_ = 0, waiting_ = 0;
  IdVector<Rank, bool> queued_;
  std::vector<Prospect> prospects_;        // scratch
  std::vector<Vicinity::Region> regions_;  // scratch
  std::vector<Vicinity::Region> seen_;     // scratch
  std::vector<Core> cores_;                // scratch
};

}  // namespace rankloom
