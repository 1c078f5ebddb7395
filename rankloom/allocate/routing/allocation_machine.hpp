// SPDX-License-Identifier: Apache-2.0
// allocate/routing: a machine as the allocator sees it: nodes, and the routers or links between them that two jobs must
// not share.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// What two jobs must not share. Zhang 2014 gives each job its own routers. Where switches are non-blocking (crossbars
/// of high radix, as in fat trees), separate links are enough (Jigsaw, HPDC 2021; LaaS, 2014).
enum class Exclusive : std::uint8_t { routers, links };

std::string_view name_of(Exclusive exclusive);
/// The value that fits the network: links in fat trees and dragonflies, routers elsewhere.
Exclusive default_exclusive(const Network& network);

/// The route footprint of a set of nodes, f_rule in Zhang 2014: the routers, or the directed links, that messages
/// between these nodes use under the routing of the network. The footprint of a single node is empty, because the node
/// sends no message. In a mesh or torus a node is its own router, so the end points of a route belong to the footprint;
/// in other networks only switches do.
class RouteFootprint {
 public:
  RouteFootprint(const Network& network, Exclusive exclusive) : network_(&network), exclusive_(exclusive) {}
  virtual ~RouteFootprint() = default;

  /// Number of routers or links. Routers have the numbers of the network's vertices, links those of its links.
  std::uint32_t resource_count() const {
    return exclusive_ == Exclusive::links ? network_->link_count() : network_->vertex_count();
  }
  /// Adds the footprint of the nodes to `shared_resources`. O(nodes + resources) for meshes, tori, trees and fat trees;
  /// dragonflies and arbitrary graphs walk every route.
  virtual void add_resources(std::span<const Node> nodes, Bitset& shared_resources) const = 0;

  const Network& network() const { return *network_; }
  Exclusive exclusive() const { return exclusive_; }

 private:
  const Network* network_;
  Exclusive exclusive_;
};

/// The footprint by its definition: walks every route. Works for any network. O(nodes² · hops).
void walk_routes(const Network& network, Exclusive exclusive, std::span<const Node> nodes, Bitset& shared_resources);

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
