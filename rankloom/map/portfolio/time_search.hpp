// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a search that minimises the predicted time of the communication.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/portfolio/node_price.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/model/machine/platform.hpp"

namespace rankloom {

/// Candidates, ordered by their predicted times. improve() changes the best of them by moves and exchanges that reduce
/// the smooth form of the predicted time (PredictedCost): on networks first by exchanging whole nodes, then by a
/// descent around communication partners, then by threshold accepting (Dueck, Scheuer 1990) over random moves and
/// exchanges, which also leaves the surroundings of partners if channels there are busy. If nodes have a price, times
/// are compared with it, and no rank moves to a node that its candidate does not use. Deterministic.
class TimeSearch {
 public:
  /// The model of the problem is `predicted`.
  TimeSearch(const MapProblem& problem, const MapRun& run, const NodePrice& price)
      : problem_(problem), run_(run), price_(price) {}

  /// The first one is the placement that the others have to beat.
  void add(std::vector<Core> core_of);
  struct Limits {
    std::size_t candidates = 1;          ///< How many of the best are improved.
    bool descend = true;                 ///< Begin with a descent around communication partners.
    std::uint64_t trials_per_rank = 10;  ///< Random moves and exchanges.
    /// How often the search may look at a channel, for each candidate: a trial of a rank with many partners on a large
    /// network looks at many. About 10^8 per second.
    double channel_visits = 1e6;
  };
  void improve(const Limits& limits, StopCondition& stop_condition);
  /// Orders the best candidates, at most this many, by the prediction by flows, which takes longer and is closer to a
  /// simulation, and removes the others. Changes nothing if the program is too large for it.
  void judge_by_flows(std::size_t max_judged, StopCondition& stop_condition);
  /// The first placement that was added, unless another one is faster by more than the prediction can tell.
  std::vector<Core> take_best();

 private:
  struct Candidate {
    std::vector<Core> core_of;
    double seconds;  // with the price of its nodes
  };
  /// Among those that are hardly slower than the first candidate, the fastest both in one round and in several becomes
  /// the first one.
  void compare_repeated_rounds(const Platform& platform);
  std::vector<Core> search(const std::vector<Core>& start, const Limits& limits, std::uint64_t seed,
                           StopCondition& stop_condition) const;

  const MapProblem& problem_;
  const MapRun& run_;
  const NodePrice& price_;
  std::vector<Candidate> candidates_;  // the fastest first
  std::optional<Candidate> first_;
};

/// The capacities of the fewest nodes if nodes have a price, those of the problem, then those that spread the ranks
/// over more and more nodes, up to all of them, then those of few nodes, the same number at each switch of a tree. One
/// entry if no slot stays free.
std::vector<Capacities> spread_capacities(const MapProblem& problem, const NodePrice& price,
                                          std::size_t max_count = std::numeric_limits<std::size_t>::max());

}  // namespace rankloom
