// SPDX-License-Identifier: Apache-2.0
// model/machine/network: trees of switches with nodes as leaves; also the network of every machine that is a hierarchy.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

/// Links 2v (up) and 2v+1 (down) connect vertex v with its parent.
class Tree final : public Network {
 public:
  Tree(TreeShape shape, std::vector<std::uint32_t> depth, std::uint32_t diameter, Cost per_hop)
      : shape_(std::move(shape)),
        tree_(std::get<TreeShape>(shape_)),
        depth_(std::move(depth)),
        diameter_(diameter),
        per_hop_(per_hop) {}

  std::uint32_t node_count() const override { return tree_.nodes; }
  std::uint32_t vertex_count() const override { return static_cast<std::uint32_t>(tree_.parent.size()); }
  std::uint32_t link_count() const override { return 2 * (vertex_count() - 1); }

  std::uint32_t hops(Node from, Node to) const override {
    const std::uint32_t a = index(from), b = index(to);
    return depth_[a] + depth_[b] - 2 * depth_[lowest_common_ancestor(a, b)];
  }

  void route(Node from, Node to, std::vector<Link>& links) const override {
    const std::uint32_t top = lowest_common_ancestor(index(from), index(to));
    for (std::uint32_t v = index(from); v != top; v = parent(v)) links.push_back(Link{2 * v});
    const auto down = static_cast<std::ptrdiff_t>(links.size());
    for (std::uint32_t v = index(to); v != top; v = parent(v)) links.push_back(Link{2 * v + 1});
    std::reverse(links.begin() + down, links.end());
  }

  std::pair<Vertex, Vertex> endpoints(Link link) const override {
    const Vertex low{index(link) / 2}, high = tree_.parent[index(low)];
    return index(link) % 2 == 0 ? std::pair(low, high) : std::pair(high, low);
  }

  Cost per_hop() const override { return per_hop_; }
  std::uint32_t diameter() const override { return diameter_; }
  std::string text() const override { return tree_.text; }
  const NetworkShape& shape() const override { return shape_; }

 private:
  std::uint32_t parent(std::uint32_t vertex) const { return index(tree_.parent[vertex]); }

  std::uint32_t lowest_common_ancestor(std::uint32_t a, std::uint32_t b) const {
    while (depth_[a] > depth_[b]) a = parent(a);
    while (depth_[b] > depth_[a]) b = parent(b);
    while (a != b) {
      a = parent(a);
      b = parent(b);
    }
    return a;
  }

  NetworkShape shape_;
  const TreeShape& tree_;  // inside shape_
  std::vector<std::uint32_t> depth_;
  std::uint32_t diameter_;
  Cost per_hop_;
};

/// Depth of every vertex, 0 for the root; fails if the ancestors of a vertex do not lead to the root.
Result<std::vector<std::uint32_t>> depths(const std::vector<Vertex>& parent) {
  std::vector<std::uint32_t> depth(parent.size(), unknown);
  depth.back() = 0;
  std::vector<std::uint32_t> path;
  for (std::uint32_t start = 0; start < parent.size(); ++start) {
    path.clear();
    std::uint32_t v = start;
    for (; depth[v] == unknown; v = index(parent[v])) {
      if (path.size() >= parent.size()) {
        return bad_network("tree", fmt::format("the ancestors of vertex {} form a cycle", start),
                           "the ancestors of every vertex must lead to the root, which is the last vertex");
      }
      path.push_back(v);
    }
    for (std::uint32_t below = depth[v] + 1; !path.empty(); ++below, path.pop_back()) depth[path.back()] = below;
  }
  return depth;
}

/// The maximum number of hops between two nodes: over all switches, the two highest branches that contain nodes.
std::uint32_t tree_diameter(std::uint32_t nodes, const std::vector<Vertex>& parent,
                            const std::vector<std::uint32_t>& depth) {
  std::vector<std::uint32_t> order(parent.size());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return depth[a] > depth[b]; });
  std::vector<std::uint32_t> height(parent.size(), unknown);  // of the highest branch so far; unknown: no node
  std::fill_n(height.begin(), nodes, 0);
  std::uint32_t longest = 0;
  for (const std::uint32_t v : order) {
    if (height[v] == unknown || depth[v] == 0) continue;
    std::uint32_t& above = height[index(parent[v])];
    if (above != unknown) longest = std::max(longest, above + height[v] + 1);
    above = above == unknown ? height[v] + 1 : std::max(above, height[v] + 1);
  }
  return longest;
}

}  // namespace

Result<NetworkPtr> make_tree(std::uint32_t nodes, std::vector<Vertex> parent, Cost per_hop, std::string text) {
  const std::string kind = "tree";
  if (auto valid = check_cost(kind, per_hop); !valid) return propagate(valid);
  if (auto valid = check_count(kind, 2 * static_cast<std::uint64_t>(parent.size()), "links"); !valid)
    return propagate(valid);
  if (nodes == 0) return bad_network(kind, "this tree has no nodes", "give it at least one node");
  if (parent.size() <= nodes)
    return bad_network(kind, "this tree has no switch", "the last vertex must be the root, which is a switch");
  const auto root = static_cast<std::uint32_t>(parent.size() - 1);
  if (index(parent[root]) != root) {
    return bad_network(kind, fmt::format("the last vertex, {}, is not the root", root),
                       "the last vertex must be the root, with itself as parent");
  }
  for (std::uint32_t v = 0; v < root; ++v) {
    const std::uint32_t above = index(parent[v]);
    if (above > root || above < nodes) {
      return bad_network(kind, fmt::format("vertex {} has the parent {}, which is not a switch", v, above),
                         fmt::format("switches are vertices {} to {}", nodes, root));
    }
  }
  auto depth = depths(parent);
  if (!depth) return propagate(depth);
  const std::uint32_t diameter = tree_diameter(nodes, parent, *depth);
  return std::make_shared<Tree>(TreeShape{nodes, std::move(parent), std::move(text)}, std::move(*depth), diameter,
                                per_hop);
}

}  // namespace rankloom
