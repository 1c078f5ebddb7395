// SPDX-License-Identifier: Apache-2.0
// allocate: a machine as the allocator sees it: nodes, and the passages between them that two jobs must not share.
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
#include "rankloom/model/topology.hpp"

namespace rankloom {

/// What two jobs must not share. Zhang 2014 asks for routers of their own; where switches do not block (crossbars of
/// high radix, as in fat trees), links of their own are enough (Jigsaw, HPDC 2021; LaaS, 2014).
enum class Exclusive : std::uint8_t { routers, links };

std::string_view name_of(Exclusive exclusive);
/// The one that suits the network: links in fat trees and dragonflies, routers elsewhere.
Exclusive usual_exclusive(const Network& network);

/// f_rule of Zhang 2014: the routers, or the directed links, that messages between the nodes of a set pass under the
/// network's routing rule. A single node sends no message, so it passes nothing. In a mesh or torus, where a node is
/// its own router, the ends of a route count as passed; elsewhere only switches do.
class RoutingRule {
 public:
  RoutingRule(const Network& network, Exclusive exclusive) : network_(&network), exclusive_(exclusive) {}
  virtual ~RoutingRule() = default;

  /// Routers are numbered as the network's vertices, links as its links.
  std::uint32_t passage_count() const {
    return exclusive_ == Exclusive::links ? network_->link_count() : network_->vertex_count();
  }
  /// Adds f_rule(nodes) to `passages`. By the shape of the network where it has one: O(nodes + passages); for arbitrary
  /// graphs and dragonflies by walking all routes.
  virtual void add_passages(std::span<const Node> nodes, Bits& passages) const = 0;

  const Network& network() const { return *network_; }
  Exclusive exclusive() const { return exclusive_; }

 private:
  const Network* network_;
  Exclusive exclusive_;
};

/// By walking every route: the definition itself, for any network. O(nodes² · hops).
void walk_routes(const Network& network, Exclusive exclusive, std::span<const Node> nodes, Bits& passages);

/// The largest number of hops between two nodes of the set. O(nodes) in meshes and trees, else O(nodes²).
std::uint32_t diameter_of(const Network& network, std::span<const Node> nodes);

/// Immutable; copies share their data. Keeps the topology alive.
class AllocationMachine {
 public:
  AllocationMachine(Topology topology, Exclusive exclusive);

  const Topology& topology() const { return *topology_; }
  const Network& network() const { return topology_->network(); }
  Exclusive exclusive() const { return rule_->exclusive(); }
  const RoutingRule& rule() const { return *rule_; }
  std::uint32_t node_count() const { return network().node_count(); }
  /// Ranks that the smallest node in use may hold, so that ⌈n / cores⌉ nodes always hold n tasks.
  std::uint32_t cores_per_node() const { return cores_per_node_; }
  /// ⌈tasks / cores⌉ (Zhang 2014, section 2).
  std::uint32_t nodes_for(std::uint64_t tasks) const {
    return static_cast<std::uint32_t>((tasks + cores_per_node_ - 1) / cores_per_node_);
  }
  /// Nodes that the topology itself excludes: all of their cores are holes.
  const Bits& holes() const { return holes_; }

 private:
  std::shared_ptr<const Topology> topology_;
  std::shared_ptr<const RoutingRule> rule_;
  std::uint32_t cores_per_node_ = 1;
  Bits holes_;
};

}  // namespace rankloom
