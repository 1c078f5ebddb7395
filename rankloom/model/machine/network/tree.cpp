// SPDX-License-Identifier: Apache-2.0
// model: trees of switches of any shape, nodes at the leaves; also the wiring of every machine that is a hierarchy.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "rankloom/model/machine/network/networks.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t unknown = std::numeric_limits<std::uint32_t>::max();

/// Links 2v and 2v+1 join vertex v with its parent: up, down.
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
    return depth_[a] + depth_[b] - 2 * depth_[common(a, b)];
  }

  void route(Node from, Node to, std::vector<Link>& links) const override {
    const std::uint32_t top = common(index(from), index(to));
    for (std::uint32_t v = index(from); v != top; v = parent(v)) links.push_back(Link{2 * v});
    const auto down = static_cast<std::ptrdiff_t>(links.size());
    for (std::uint32_t v = index(to); v != top; v = parent(v)) links.push_back(Link{2 * v + 1});
    std::reverse(links.begin() + down, links.end());
  }

  std::pair<Vertex, Vertex> ends(Link link) const override {
    const Vertex low{index(link) / 2}, high = tree_.parent[index(low)];
    return index(link) % 2 == 0 ? std::pair(low, high) : std::pair(high, low);
  }

  Cost per_hop() const override { return per_hop_; }
  std::uint32_t diameter() const override { return diameter_; }
  std::string text() const override { return tree_.text; }
  const NetworkShape& shape() const override { return shape_; }

 private:
  std::uint32_t parent(std::uint32_t vertex) const { return index(tree_.parent[vertex]); }

  /// The lowest vertex above both, or one of them.
  std::uint32_t common(std::uint32_t a, std::uint32_t b) const {
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

/// Depth of every vertex, 0 for the root; fails on a vertex whose parents never lead there.
Result<std::vector<std::uint32_t>> depths(const std::vector<Vertex>& parent) {
  std::vector<std::uint32_t> depth(parent.size(), unknown);
  depth.back() = 0;
  std::vector<std::uint32_t> way;
  for (std::uint32_t start = 0; start < parent.size(); ++start) {
    way.clear();
    std::uint32_t v = start;
    for (; depth[v] == unknown; v = index(parent[v])) {
      if (way.size() >= parent.size()) {
        return bad_network("tree", fmt::format("the parents of vertex {} lead in a circle", start),
                           "let every vertex have its parent nearer to the root, which is the last vertex");
      }
      way.push_back(v);
    }
    for (std::uint32_t below = depth[v] + 1; !way.empty(); ++below, way.pop_back()) depth[way.back()] = below;
  }
  return depth;
}

/// The longest way between two nodes: under some switch, the two deepest branches that hold nodes.
std::uint32_t longest_way(std::uint32_t nodes, const std::vector<Vertex>& parent,
                          const std::vector<std::uint32_t>& depth) {
  std::vector<std::uint32_t> order(parent.size());
  for (std::uint32_t v = 0; v < order.size(); ++v) order[v] = v;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return depth[a] > depth[b]; });
  std::vector<std::uint32_t> height(parent.size(), unknown);  // of the tallest branch so far; unknown: it holds no node
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
  if (auto sound = check_cost(kind, per_hop); !sound) return propagate(sound);
  if (auto sound = check_count(kind, 2 * static_cast<std::uint64_t>(parent.size()), "links"); !sound)
    return propagate(sound);
  if (nodes == 0) return bad_network(kind, "this tree has no nodes", "give it at least one");
  if (parent.size() <= nodes)
    return bad_network(kind, "this tree has no switch", "let the root, a switch, be the last vertex");
  const auto root = static_cast<std::uint32_t>(parent.size() - 1);
  if (index(parent[root]) != root) {
    return bad_network(kind, fmt::format("the last vertex, {}, is not the root", root),
                       "let the root come last, as its own parent");
  }
  for (std::uint32_t v = 0; v < root; ++v) {
    const std::uint32_t above = index(parent[v]);
    if (above > root || above < nodes) {
      return bad_network(kind, fmt::format("vertex {} has the parent {}, which is no switch", v, above),
                         fmt::format("switches are the vertices {} to {}", nodes, root));
    }
  }
  auto depth = depths(parent);
  if (!depth) return propagate(depth);
  const std::uint32_t diameter = longest_way(nodes, parent, *depth);
  return std::make_shared<Tree>(TreeShape{nodes, std::move(parent), std::move(text)}, std::move(*depth), diameter,
                                per_hop);
}

}  // namespace rankloom
