// SPDX-License-Identifier: Apache-2.0
// map/clustering: APE, the aggregated pair exchange (Wang 2015, 4.4.3, Algorithm 4), and the cost model it minimises,
// the aggregated quadratic assignment problem (AQAP, 3.2).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/reverse_adjacency.hpp"
#include "rankloom/map/stop_condition.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// The AQAP cost of a placement of clusters: equations (2) and (3), read as a sum over unordered pairs of clusters plus
/// the traffic inside each cluster, so that the total equals the QAP cost of the placement. Valid for every cost model
/// that is a sum over pairs of ranks, that is all but congestion. All costs are objectives: smaller is better.
class AqapCost {
 public:
  /// The problem's values and the clusters must outlive the object. Every rank belongs to exactly one cluster.
  AqapCost(const MapProblem& problem, const Groups& clusters);

  /// Cost of the traffic between two clusters, both directions; for a == b every edge counts twice. O(edges of the two
  /// clusters).
  double between(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const;
  /// Cost of the traffic between the members of one cluster.
  double inside(std::uint32_t cluster, std::span<const Core> core_of) const;
  /// The sum over all clusters and all pairs of clusters. O(clusters x edges), for tests.
  double total(std::span<const Core> core_of) const;
  /// The change of the total when two clusters of equal size exchange their slots, member by member. Only the edges of
  /// the two clusters are visited. core_of is modified during the call and restored before it returns.
  double exchange_delta(std::uint32_t a, std::uint32_t b, std::span<Core> core_of) const;

 private:
  /// The quality model is a sum over i < j, so messages of a rank to itself do not count.
  bool is_counted(Rank from, Rank to) const { return counts_self_messages_ || from != to; }
  double incident_cost(std::uint32_t a, std::uint32_t b, std::span<const Core> core_of) const;
  double symmetric_delta(const TreeDistance& distance, std::uint32_t a, std::uint32_t b,
                         std::span<const Core> core_of) const;

  const CommGraph* graph_;
  const Groups* clusters_;
  std::vector<std::uint32_t> cluster_of_;
  std::vector<std::uint32_t> position_of_;  // by rank: its index in its cluster
  ReverseAdjacency incoming_;
  Distance distance_;
  bool counts_self_messages_;
  std::optional<Affinity> affinity_;  // set where only the bytes of both directions matter: half the edges to visit
};

struct ApeOptions {
  std::uint64_t tries = 0;            ///< Pairs of clusters to evaluate; the paper's l.
  std::uint64_t noise_threshold = 0;  ///< NOISE_THRESHOLD: clusters with fewer ranks are noise clusters.
};

/// APE (Algorithm 4): `tries` times, two noise clusters of equal size exchange their slots if the cost decreases. The
/// pairs are drawn at random among those of equal size (the paper draws any two clusters and skips unequal pairs). The
/// search stops early after twice as many consecutive draws without a gain as there are pairs. Works with every cost
/// model; the cost of the placement never increases.
void aggregated_pair_exchange(const MapProblem& problem, const Groups& clusters, const ApeOptions& options,
                              std::uint64_t seed, StopCondition& stop_condition, std::vector<Core>& core_of);

}  // namespace rankloom
