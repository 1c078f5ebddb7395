// SPDX-License-Identifier: Apache-2.0
// map/clustering: the aggregated quadratic assignment problem (Wang 2015, 3.2) and its search, the aggregated pair
// exchange (Algorithm 4).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/pulse.hpp"
#include "rankloom/map/senders.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {

/// What the clusters of one placement cost: equations (2) and (3), read over unordered pairs of clusters plus what is
/// said inside each, so that the total is the cost of the placement. For every model that is a sum over pairs of ranks,
/// that is all but congestion. All costs are objectives: smaller is better.
class AggregatedCost {
 public:
  /// What it is given must outlive it, but for the model. The clusters hold every rank once.
  AggregatedCost(const MapProblem& problem, const Groups& clusters);

  /// Both directions between the members of two different clusters. O(their edges).
  double between(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const;
  /// What a cluster says inside itself.
  double inside(std::uint32_t cluster, std::span<const Core> core_of) const;
  /// Over all clusters and pairs of them. O(clusters x edges), for checks.
  double total(std::span<const Core> core_of) const;
  /// What the total changes by when two clusters of equal size exchange their places, member by member; from the edges
  /// of the two alone. core_of is the same again afterwards.
  double exchange_delta(std::uint32_t a, std::uint32_t b, std::span<Core> core_of) const;

 private:
  /// Quality is a sum over i < j, without what a rank sends to itself.
  bool counts(Rank from, Rank to) const { return with_self_ || from != to; }
  double touching(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const;
  double symmetric_delta(const TreeDistance& distance, std::uint32_t a, std::uint32_t b,
                         std::span<const Core> core_of) const;

  const CommGraph* graph_;
  const Groups* clusters_;
  std::vector<std::uint32_t> cluster_of_;
  std::vector<std::uint32_t> position_of_;  // in its cluster
  Senders senders_;
  Distance distance_;
  bool with_self_;
  std::optional<Affinity> affinity_;  // where bytes both ways are all that counts: half the edges to look at
};

struct ApeOptions {
  std::uint64_t tries = 0;  ///< Pairs of clusters to look at.
  std::uint64_t noise = 0;  ///< NOISE_THRESHOLD: smaller clusters are exchanged.
};

/// APE: `tries` times, two noise clusters of equal size exchange their places if the cost falls. The pairs are drawn at
/// random among those of equal size (the paper draws any two and passes over unequal ones). It ends early when, in a
/// row, twice as many draws as there are pairs brought nothing. Any cost model; the placement never ends above its
/// start.
void aggregated_pair_exchange(const MapProblem& problem, const Groups& clusters, const ApeOptions& options,
                              std::uint64_t seed, Pulse& pulse, std::vector<Core>& core_of);

}  // namespace rankloom
