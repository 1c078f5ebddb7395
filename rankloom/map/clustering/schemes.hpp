// SPDX-License-Identifier: Apache-2.0
// map/clustering: the placement of clusters on nodes (Wang 2015, 4.4.2): Plain, First-Fit, Most-Reservation, and the
// adaptive rule that chooses between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The slots of the machine, node by node.
struct NodeSlots {
  std::vector<Core> slots;             ///< The core of each slot, in the order of slots_in_core_order().
  std::vector<std::uint64_t> ends{0};  ///< A zero, then the end of each node's slots; a node may have none.

  std::size_t node_count() const { return ends.size() - 1; }
  std::uint64_t size_of(std::size_t node) const { return ends[node + 1] - ends[node]; }
  std::uint64_t largest() const;
  /// The smallest number of nodes whose slots suffice for the ranks.
  std::size_t needed_for(std::uint64_t ranks) const;
};

/// The nodes are those of the topology. On a machine with one node they are its children; with a distance matrix every
/// core is a node.
NodeSlots node_slots(const MapProblem& problem);

enum class Scheme : std::uint8_t { plain, first_fit, most_reservation, adaptive };

struct SchemeOptions {
  Scheme scheme = Scheme::adaptive;
  double low = 0.1;          ///< T_l: Plain below this deviation of the cluster sizes; see choose_scheme.
  double high = 0.7;         ///< T_h: First-Fit above this deviation ...
  std::uint64_t many = 256;  ///< T_k: ... and with fewer clusters than this.
};

/// The adaptive rule of 4.4.2. The paper compares the standard deviation of the cluster sizes with thresholds but does
/// not give their values. Here the deviation is divided by the mean size, so that the same thresholds suit nodes with 4
/// and with 128 cores.
Scheme choose_scheme(const Groups& clusters, const SchemeOptions& options);

/// The core of each rank. Every rank belongs to one cluster, the clusters are sorted by their smallest rank, and there
/// are at least as many slots as ranks. O(ranks + clusters log clusters + clusters log nodes), plus O(nodes) for each
/// cluster that is split.
std::vector<Core> place_clusters(const Groups& clusters, const NodeSlots& nodes, Scheme scheme);

}  // namespace rankloom
