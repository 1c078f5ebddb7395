// SPDX-License-Identifier: Apache-2.0
// allocate: f_rule for every kind of network, and what a machine holds besides.
#include "rankloom/allocate/machine.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "rankloom/allocate/routing_rules.hpp"

namespace rankloom {

std::string_view name_of(Exclusive exclusive) {
  return exclusive == Exclusive::links ? "links" : "routers";
}

Exclusive usual_exclusive(const Network& network) {
  const NetworkShape& shape = network.shape();
  const bool crossbars = std::holds_alternative<FatTreeShape>(shape) || std::holds_alternative<DragonflyShape>(shape);
  return crossbars ? Exclusive::links : Exclusive::routers;
}

void walk_routes(const Network& network, Exclusive exclusive, std::span<const Node> nodes, Bits& passages) {
  const bool nodes_route = std::holds_alternative<MeshShape>(network.shape()) || graph_shape(network) != nullptr;
  std::vector<Link> route;
  const auto pass = [&](Vertex vertex) {
    if (nodes_route || index(vertex) >= network.node_count()) passages.set(index(vertex));
  };
  for (const Node from : nodes) {
    for (const Node to : nodes) {
      route.clear();
      network.route(from, to, route);
      for (const Link link : route) {
        if (exclusive == Exclusive::links) {
          passages.set(index(link));
          continue;
        }
        const auto [a, b] = network.ends(link);
        pass(a);
        pass(b);
      }
    }
  }
}

std::uint32_t diameter_of(const Network& network, std::span<const Node> nodes) {
  std::uint32_t most = 0;
  for (const Node from : nodes) {
    for (const Node to : nodes) most = std::max(most, network.hops(from, to));
  }
  return most;
}

namespace {

std::unique_ptr<RoutingRule> make_rule(const Network& network, Exclusive exclusive) {
  const NetworkShape& shape = network.shape();
  if (std::holds_alternative<MeshShape>(shape)) return make_mesh_rule(network, exclusive);
  if (std::holds_alternative<TreeShape>(shape)) return make_tree_rule(network, exclusive);
  if (std::holds_alternative<FatTreeShape>(shape)) return make_fat_tree_rule(network, exclusive);
  return make_walked_rule(network, exclusive);
}

}  // namespace

AllocationMachine::AllocationMachine(Topology topology, Exclusive exclusive)
    : topology_(std::make_shared<const Topology>(std::move(topology))),
      rule_(make_rule(topology_->network(), exclusive)),
      holes_(topology_->node_count()) {
  std::vector<std::uint64_t> room(node_count());
  for (const Core core : topology_->cores()) room[index(topology_->node_of(core))] += topology_->capacity(core);
  std::uint64_t least = std::numeric_limits<std::uint32_t>::max();
  for (std::uint32_t node = 0; node < node_count(); ++node) {
    if (room[node] == 0) {
      holes_.set(node);
    } else {
      least = std::min(least, room[node]);
    }
  }
  cores_per_node_ = static_cast<std::uint32_t>(least);
}

}  // namespace rankloom
