// SPDX-License-Identifier: Apache-2.0
// map/local_search: where on the machine somebody should look who wants to be near a given core.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/topology.hpp"

namespace rankloom {

/// Regions are objects of the hierarchy, or, where nodes are wired otherwise or come as a table, the nodes next to a
/// node. O(links) memory.
class Vicinity {
 public:
  /// Cores shown of one region.
  static constexpr std::uint32_t window = 16;

  struct Region {
    std::size_t level;  ///< Of the object; the number of levels stands for "the nodes next to node `object`".
    std::uint32_t object;
    bool operator==(const Region&) const = default;
  };

  explicit Vicinity(const Topology& topology);

  /// Appends the regions around `centre` that do not hold `from`, the smallest first. O(levels).
  void regions(Core from, Core centre, std::vector<Region>& regions) const;
  /// A core of the region, for a first guess of what it is worth; not `centre` itself unless it is alone.
  Core probe(const Region& region, Core centre) const;
  /// Appends the region's cores; of a large region a sample, another one for another turn.
  void cores(const Region& region, std::uint64_t turn, std::vector<Core>& cores) const;

 private:
  std::span<const Node> nodes_next_to(Node node) const;
  void join_nodes_by_links();
  void join_nodes_by_distance();
  void join(std::vector<std::vector<Node>> lists);

  const Topology& topology_;
  std::vector<std::size_t> next_offset_;  // by node; empty when the hierarchy says it all
  std::vector<Node> next_;
};

}  // namespace rankloom
