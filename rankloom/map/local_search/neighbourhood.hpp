// SPDX-License-Identifier: Apache-2.0
// map/local_search: the candidate cores for a rank that should move close to a given core.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// A region is an object of the hierarchy or, on routed networks and with distance matrices, the set of nodes adjacent
/// to a node. O(links) memory.
class Neighbourhood {
 public:
  /// The most cores that cores() returns for one region.
  static constexpr std::uint32_t window = 16;

  struct Region {
    std::size_t level;  ///< The object's level; the number of levels means "the nodes adjacent to node `object`".
    std::uint32_t object;
    bool operator==(const Region&) const = default;
  };

  explicit Neighbourhood(const Topology& topology);

  /// Appends the regions around `centre` that do not contain `from`, the smallest first. O(levels).
  void regions(Core from, Core centre, std::vector<Region>& regions) const;
  /// One core of the region, to estimate the gain of moving there. It is not `centre` unless that is the only core.
  Core probe(const Region& region, Core centre) const;
  /// Appends the region's cores; of a large region a sample that depends on `turn`.
  void cores(const Region& region, std::uint64_t turn, std::vector<Core>& cores) const;
  /// On routed networks and with distance matrices only.
  std::span<const Node> adjacent_nodes(Node node) const;

 private:
  void find_adjacent_by_links();
  void find_adjacent_by_distance();
  void store_adjacent(std::vector<std::vector<Node>> lists);

  const Topology& topology_;
  std::vector<std::size_t> adjacent_offset_;  // by node; empty when the hierarchy defines all distances
  std::vector<Node> adjacent_;
};

}  // namespace rankloom
