// SPDX-License-Identifier: Apache-2.0
// model: the shapes of networks. Each shape is one file beside this one; every shape is checked there, so a network
// that exists is sound. An error says what is wrong with the shape; whoever read the shape knows where it stood.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/network.hpp"

namespace rankloom {

using NetworkPtr = std::shared_ptr<const Network>;

/// Mesh or torus of any dimension with dimension-order routing: the last dimension (x, in which node numbers run
/// fastest) first. On a torus the shorter way round; at half way the rising one. A torus of size 2 has one cable there,
/// not two.
struct MeshShape {
  std::vector<std::uint32_t> sizes;
  bool torus = false;
};
Result<NetworkPtr> make_mesh(std::vector<std::uint32_t> sizes, bool torus, Cost per_hop);

/// A tree of switches, nodes at the leaves, at any depth. `parent[v]` for each vertex; vertices 0..nodes-1 are the
/// nodes, all others switches, the root last (its own parent). Routes go up to the lowest common switch and down:
/// O(depth).
struct TreeShape {
  std::uint32_t nodes = 0;
  std::vector<Vertex> parent;
  std::string text;
};
Result<NetworkPtr> make_tree(std::uint32_t nodes, std::vector<Vertex> parent, Cost per_hop, std::string text);

/// Extended generalised fat tree (Öhring et al. 1995), written top down: children[l] objects below each switch of level
/// l, parents[l] switches above each of them (the last entry belongs to the nodes). Routing: up by the digits of the
/// destination (D-mod-k), then down the only way.
struct FatTreeShape {
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> parents;
};
Result<NetworkPtr> make_fat_tree(std::vector<std::uint32_t> children, std::vector<std::uint32_t> parents, Cost per_hop);

/// Dragonfly (Kim et al. 2008): groups of routers wired all to all, `global` links a router to other groups laid out
/// consecutively (0: as few as reach every group), `nodes` nodes a router. Minimal routing: local, global, local; of
/// several global links between two groups the one nearest to both ends.
struct DragonflyShape {
  std::uint32_t groups = 0, routers = 0, nodes = 0, global = 0;
};
Result<NetworkPtr> make_dragonfly(DragonflyShape shape, Cost per_hop);

/// Any graph. Vertices 0..nodes-1 are the nodes, which may pass messages on only if nodes_forward.
struct GraphShape {
  struct Cable {
    Vertex a, b;
    Cost cost;
    bool one_way = false;
  };
  std::uint32_t nodes = 0;
  std::uint32_t vertices = 0;
  std::vector<Cable> cables = {};
  bool nodes_forward = true;
  /// Table routing: next[destination node][vertex] = the vertex to go to; empty: shortest paths (fewest hops, then
  /// lowest gap, then lowest latency, then lowest vertex number), found for a destination when it is first asked for.
  /// What a table says of vertices that no route passes is not looked at.
  std::vector<std::vector<Vertex>> next = {};
};
/// Every node must reach every other. Memory: 4 bytes a vertex and 4 or 20 a node for each destination asked for.
Result<NetworkPtr> make_graph(GraphShape shape);

struct NetworkShape : std::variant<MeshShape, TreeShape, FatTreeShape, DragonflyShape, GraphShape> {
  using variant::variant;
};

/// The shape of an arbitrary graph; nullptr for other networks.
inline const GraphShape* graph_shape(const Network& network) {
  return std::get_if<GraphShape>(&network.shape());
}

}  // namespace rankloom
