// SPDX-License-Identifier: Apache-2.0
// map/clustering: clusters of processes onto nodes (Wang 2015, 4.4.2): Plain, First-Fit, Most-Reservation, and the rule
// that chooses between them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The places for ranks, cut into nodes.
struct NodePlaces {
  std::vector<Core> places;            ///< In the order of the cores: places_in_order().
  std::vector<std::uint64_t> ends{0};  ///< A zero, then where each node's places end; a node may have none.

  std::size_t node_count() const { return ends.size() - 1; }
  std::uint64_t size_of(std::size_t node) const { return ends[node + 1] - ends[node]; }
  std::uint64_t largest() const;
  /// How many nodes it takes to hold so many ranks, the largest nodes first.
  std::size_t nodes_for(std::uint64_t ranks) const;
};

/// Nodes are those of the topology; on a machine of one node the parts that it consists of; in a table of distances
/// every core.
NodePlaces node_places(const MapProblem& problem);

enum class Scheme : std::uint8_t { plain, first_fit, most_reservation, adaptive };

struct SchemeOptions {
  Scheme scheme = Scheme::adaptive;
  double low = 0.1;   ///< T_l; Plain when the clusters' sizes vary less. Relative to their mean, see chosen_scheme.
  double high = 0.7;  ///< T_h; First-Fit when they vary more
  std::uint64_t many = 256;  ///< T_k; and there are fewer clusters than these.
};

/// The adaptive rule of 4.4.2. The paper compares the standard deviation of the sizes with thresholds that it does not
/// name; here it is divided by the mean size, so that one threshold serves nodes of 4 cores and of 128.
Scheme chosen_scheme(const Groups& clusters, const SchemeOptions& options);

/// A core for each of `ranks` ranks. The clusters hold every rank once, in the order of their smallest ranks; there are
/// at least as many places. O(ranks + clusters log clusters + clusters log nodes)
/// but for clusters that are split, which look at every node.
std::vector<Core> place_clusters(const Groups& clusters, const NodePlaces& nodes, Scheme scheme);

}  // namespace rankloom
