// SPDX-License-Identifier: Apache-2.0
// allocate/routing: the footprint by its definition, and the choice of the footprint for a network.
#include "rankloom/allocate/routing/route_footprint.hpp"

#include <variant>
#include <vector>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

std::string_view name_of(Exclusive exclusive) {
  return exclusive == Exclusive::links ? "links" : "routers";
}

Exclusive default_exclusive(const Network& network) {
  const NetworkShape& shape = network.shape();
  const bool is_non_blocking =
      std::holds_alternative<FatTreeShape>(shape) || std::holds_alternative<DragonflyShape>(shape);
  return is_non_blocking ? Exclusive::links : Exclusive::routers;
}

Exclusive default_exclusive(const Topology& topology) {
  const bool has_switches = std::holds_alternative<TreeShape>(topology.network().shape()) && !topology.routed();
  return has_switches ? Exclusive::links : default_exclusive(topology.network());
}

void walk_routes(const Network& network, Exclusive exclusive, std::span<const Node> nodes, Bitset& shared_resources) {
  const bool nodes_are_routers = std::holds_alternative<MeshShape>(network.shape()) || graph_shape(network) != nullptr;
  std::vector<Link> route;
  const auto add_router = [&](Vertex vertex) {
    if (nodes_are_routers || index(vertex) >= network.node_count()) shared_resources.set(index(vertex));
  };
  for (const Node from : nodes) {
    for (const Node to : nodes) {
      route.clear();
      network.route(from, to, route);
      for (const Link link : route) {
        if (exclusive == Exclusive::links) {
          shared_resources.set(index(link));
          continue;
        }
        const auto [a, b] = network.endpoints(link);
        add_router(a);
        add_router(b);
      }
    }
  }
}

namespace {

/// For networks without a formula.
class WalkedFootprint final : public RouteFootprint {
 public:
  using RouteFootprint::RouteFootprint;
  void add_resources(std::span<const Node> nodes, Bitset& shared_resources) const override {
    walk_routes(network(), exclusive(), nodes, shared_resources);
  }
};

}  // namespace

std::unique_ptr<RouteFootprint> make_route_footprint(const Network& network, Exclusive exclusive) {
  const NetworkShape& shape = network.shape();
  if (std::holds_alternative<MeshShape>(shape)) return make_mesh_footprint(network, exclusive);
  if (std::holds_alternative<TreeShape>(shape)) return make_tree_footprint(network, exclusive);
  if (std::holds_alternative<FatTreeShape>(shape)) return make_fat_tree_footprint(network, exclusive);
  return std::make_unique<WalkedFootprint>(network, exclusive);
}

}  // namespace rankloom
