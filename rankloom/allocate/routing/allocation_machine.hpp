// SPDX-License-Identifier: Apache-2.0
// allocate/routing: a machine as the allocator sees it: nodes, and the route footprints that two jobs must not share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rankloom/allocate/routing/route_footprint.hpp"
#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// The largest number of hops between two nodes of the set. O(nodes) in meshes and trees, else O(nodes²).
std::uint32_t diameter_of(const Network& network, std::span<const Node> nodes);

/// Immutable; copies share their data.
class AllocationMachine {
 public:
  AllocationMachine(Topology topology, Exclusive exclusive);

  const Topology& topology() const { return *topology_; }
  const Network& network() const { return topology_->network(); }
  Exclusive exclusive() const { return route_footprint_->exclusive(); }
  const RouteFootprint& route_footprint() const { return *route_footprint_; }
  std::uint32_t node_count() const { return network().node_count(); }
  /// The capacity of the smallest usable node, so that ⌈n / cores⌉ nodes always have slots for n tasks.
  std::uint32_t cores_per_node() const { return cores_per_node_; }
  /// ⌈tasks / cores⌉ (Zhang 2014, section 2).
  std::uint32_t nodes_for(std::uint64_t tasks) const {
    return static_cast<std::uint32_t>((tasks + cores_per_node_ - 1) / cores_per_node_);
  }
  /// Nodes that the topology excludes: all of their cores have capacity 0.
  const Bitset& holes() const { return holes_; }

 private:
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const RouteFootprint> route_footprint_;
  std::uint32_t cores_per_node_ = 1;
  Bitset holes_;
};

}  // namespace rankloom
