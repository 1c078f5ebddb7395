// SPDX-License-Identifier: Apache-2.0
// allocate: f_rule for every kind of network, and what a machine holds besides.
#include "rankloom/allocate/routing/allocation_machine.hpp"

#include <algorithm>
#include <limits>
#include <variant>

#include "rankloom/allocate/routing/route_footprint.hpp"

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

namespace {

/// On a mesh hops are differences of coordinates, so the farthest pair differs most in one of their signed sums.
/// O(nodes · 2^dimensions).
std::uint32_t mesh_diameter(std::span<const std::uint32_t> sizes, std::span<const Node> nodes) {
  std::int64_t most = 0;
  for (std::uint32_t signs = 0; signs < 1U << (sizes.size() - 1); ++signs) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (const Node node : nodes) {
      std::int64_t sum = 0;
      std::uint32_t rest = index(node);
      for (std::size_t j = sizes.size(); j-- > 0; rest /= sizes[j])
        sum += ((signs >> j) & 1) != 0 ? -std::int64_t{rest % sizes[j]} : std::int64_t{rest % sizes[j]};
      low = std::min(low, sum);
      high = std::max(high, sum);
    }
    most = std::max(most, high - low);
  }
  return static_cast<std::uint32_t>(most);
}

}  // namespace

std::uint32_t diameter_of(const Network& network, std::span<const Node> nodes) {
  const auto* const mesh = std::get_if<MeshShape>(&network.shape());
  if (nodes.empty()) return 0;
  if (mesh != nullptr && !mesh->torus && mesh->sizes.size() < 6) return mesh_diameter(mesh->sizes, nodes);
  const auto farthest = [&](Node from) {
    return *std::max_element(nodes.begin(), nodes.end(),
                             [&](Node a, Node b) { return network.hops(from, a) < network.hops(from, b); });
  };
  // In a tree the node that is farthest from any node is an end of the farthest pair.
  const bool tree =
      std::holds_alternative<TreeShape>(network.shape()) || std::holds_alternative<FatTreeShape>(network.shape());
  if (tree) {
    const Node end = farthest(nodes[0]);
    return network.hops(end, farthest(end));
  }
  std::uint32_t most = 0;
  for (const Node from : nodes) most = std::max(most, network.hops(from, farthest(from)));
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
