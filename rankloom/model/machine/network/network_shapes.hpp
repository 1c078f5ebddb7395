// SPDX-License-Identifier: Apache-2.0
// model/machine/network: the kinds of networks, one source file each. The make_… functions validate the shape. Their
// errors say what is wrong with the shape; the caller knows the position in the input.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

using NetworkPtr = std::shared_ptr<const Network>;

/// Mesh or torus of any dimension with dimension-order routing: the last dimension (x, in which node numbers change
/// fastest) comes first. On a torus routes take the shorter direction, and the positive one if both are equal. A torus
/// dimension of size 2 has one cable, not two.
struct MeshShape {
  std::vector<std::uint32_t> sizes;
  bool torus = false;
  /// In the order of the sizes.
  std::vector<std::uint32_t> coordinates(Node node) const;
};
Result<NetworkPtr> make_mesh(std::vector<std::uint32_t> sizes, bool torus, Cost per_hop);

/// A tree of switches with nodes as leaves at any depth. Vertices 0..nodes-1 are the nodes, all others switches; the
/// root is the last vertex and its own parent. Routes go up to the lowest common ancestor and down: O(depth).
struct TreeShape {
  std::uint32_t nodes = 0;
  std::vector<Vertex> parent;
  std::string text;
};
Result<NetworkPtr> make_tree(std::uint32_t nodes, std::vector<Vertex> parent, Cost per_hop, std::string text);

/// Extended generalised fat tree (Öhring et al. 1995), top down: each switch of level l has children[l] objects below
/// it, and each of these has parents[l] switches above it (the last entries describe the nodes). Routing: up by the
/// digits of the destination (D-mod-k), then down the unique path.
struct FatTreeShape {
  std::vector<std::uint32_t> children;
  std::vector<std::uint32_t> parents;
};
Result<NetworkPtr> make_fat_tree(std::vector<std::uint32_t> children, std::vector<std::uint32_t> parents, Cost per_hop);

/// Dragonfly (Kim et al. 2008): groups of `routers` that are wired all to all, `global` links per router to other
/// groups in consecutive order (0: the minimum that reaches every group), `nodes` nodes per router. Minimal routing:
/// local, global, local; among several global links between two groups the one that needs the fewest local hops.
struct DragonflyShape {
  std::uint32_t groups = 0, routers = 0, nodes = 0, global = 0;
};
Result<NetworkPtr> make_dragonfly(DragonflyShape shape, Cost per_hop);

/// An arbitrary graph. Vertices 0..nodes-1 are the nodes; they forward messages of others only if nodes_forward is set.
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
  /// Routing tables: next[destination node][vertex] is the next vertex. Empty: shortest paths (fewest hops, then lowest
  /// inverse bandwidth, then lowest latency, then lowest vertex number), computed when a destination is first
  /// requested. Table entries of vertices that no route passes are ignored.
  std::vector<std::vector<Vertex>> next = {};
};
/// Every node must reach every other node. Memory: 4 bytes per vertex and 4 or 20 per node for each requested
/// destination.
Result<NetworkPtr> make_graph(GraphShape shape);

struct NetworkShape : std::variant<MeshShape, TreeShape, FatTreeShape, DragonflyShape, GraphShape> {
  using variant::variant;
};

/// The shape if the network is an arbitrary graph, else nullptr.
inline const GraphShape* graph_shape(const Network& network) {
  return std::get_if<GraphShape>(&network.shape());
}

}  // namespace rankloom
