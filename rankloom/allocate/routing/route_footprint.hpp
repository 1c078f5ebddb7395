// SPDX-License-Identifier: Apache-2.0
// allocate/routing: route footprints: the routers or links that the messages of a job use.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "rankloom/allocate/state/bitset.hpp"
#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/network/network.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// What two jobs must not share. Zhang 2014 gives each job its own routers. Where switches are non-blocking (crossbars
/// of high radix, as in fat trees), separate links are enough (Jigsaw, HPDC 2021; LaaS, 2014).
enum class Exclusive : std::uint8_t { routers, links };

std::string_view name_of(Exclusive exclusive);
/// The value that fits the network: links in fat trees and dragonflies, routers elsewhere.
Exclusive default_exclusive(const Network& network);
/// The same for a machine: links also for a hierarchy of switches, such as that of Slurm's topology.conf, whose
/// switches are crossbars. `tree:…` is the network of the paper, with routers.
Exclusive default_exclusive(const Topology& topology);

// f_rule in Zhang 2014 (words: ok)
/// The route footprint of a set of nodes: the routers, or the directed links, that messages between these nodes use
/// under the routing of the network. The footprint of a single node is empty, because the node sends no message. In a
/// mesh or torus a node is its own router, so the end points of a route belong to the footprint; in other networks only
/// switches do.
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

/// The footprint of this network, by a formula for its shape if there is one. The network must outlive it.
std::unique_ptr<RouteFootprint> make_route_footprint(const Network& network, Exclusive exclusive);

std::unique_ptr<RouteFootprint> make_mesh_footprint(const Network& network, Exclusive exclusive);
std::unique_ptr<RouteFootprint> make_tree_footprint(const Network& network, Exclusive exclusive);
std::unique_ptr<RouteFootprint> make_fat_tree_footprint(const Network& network, Exclusive exclusive);

}  // namespace rankloom
