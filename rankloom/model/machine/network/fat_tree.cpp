// SPDX-License-Identifier: Apache-2.0
// model/machine/network: extended generalised fat trees (Öhring, Ibel, Das, Kumar 1995) with D-mod-k routing (Zahavi
// 2012).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "rankloom/model/machine/network/divider.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/machine/network/shape_check.hpp"

namespace rankloom {

namespace {

/// Level i of the paper, counted upwards from the nodes (0). An object of level i has the number x * W + y, where x is
/// its subtree (node / M, M nodes each) and y selects one of the W equivalent roots of that subtree.
///
/// D-mod-k chooses the parent on each level by the digits of the destination d in the radices w_1, w_2, …. The digits
/// so far are y = d mod W. The route from s therefore passes the switches (s / M) * W + d mod W on the way up, and (d /
/// M) * W + d mod W on the way down.
struct FatTreeLevel {
  Divider subtree;   // M: nodes below one object
  Divider roots;     // W
  Divider children;  // m: objects of the level below under each
  Divider parents;   // w: objects of this level above each of the level below
  std::uint32_t first_vertex;
  std::uint32_t first_link;  // of the links up to this level; each is followed by the link down
};

class FatTree final : public Network {
 public:
  FatTree(FatTreeShape shape, std::vector<FatTreeLevel> levels, std::uint32_t vertices, std::uint32_t links,
          Cost per_hop)
      : shape_(std::move(shape)), levels_(std::move(levels)), vertices_(vertices), links_(links), per_hop_(per_hop) {}

  std::uint32_t node_count() const override { return levels_.back().subtree.divisor(); }
  std::uint32_t vertex_count() const override { return vertices_; }
  std::uint32_t link_count() const override { return links_; }

  std::uint32_t hops(Node from, Node to) const override { return 2 * levels_up(index(from), index(to)); }

  void route(Node from, Node to, std::vector<Link>& links) const override {
    const std::uint32_t s = index(from), d = index(to);
    const std::uint32_t top = levels_up(s, d);
    for (std::uint32_t level = 1; level <= top; ++level) links.push_back(Link{link_up(level, s, d)});
    for (std::uint32_t level = top; level >= 1; --level) links.push_back(Link{link_up(level, d, d) + 1});
  }

  std::pair<Vertex, Vertex> endpoints(Link link) const override {
    std::size_t level = levels_.size() - 1;
    while (level > 1 && index(link) < levels_[level].first_link) --level;
    const FatTreeLevel& upper = levels_[level];
    const FatTreeLevel& lower = levels_[level - 1];
    const std::uint32_t number = index(link) - upper.first_link;
    const std::uint32_t object = upper.parents.quotient(number / 2);
    const std::uint32_t digit = upper.parents.remainder(number / 2);
    const std::uint32_t x = upper.children.quotient(lower.roots.quotient(object));
    const std::uint32_t y = lower.roots.remainder(object) + lower.roots.divisor() * digit;
    const Vertex low{lower.first_vertex + object};
    const Vertex high{upper.first_vertex + x * upper.roots.divisor() + y};
    return number % 2 == 0 ? std::pair(low, high) : std::pair(high, low);
  }

  Cost per_hop() const override { return per_hop_; }
  std::uint32_t diameter() const override { return node_count() == 1 ? 0 : 2 * levels_up(0, node_count() - 1); }

  std::string text() const override {
    const auto& [children, parents] = std::get<FatTreeShape>(shape_);
    return fmt::format("fattree:{}/{}{}", fmt::join(children, ","), fmt::join(parents, ","), cost_text(per_hop_));
  }
  const NetworkShape& shape() const override { return shape_; }

 private:
  /// The lowest level on which both nodes are in one subtree.
  std::uint32_t levels_up(std::uint32_t a, std::uint32_t b) const {
    std::uint32_t level = 0;
    while (levels_[level].subtree.quotient(a) != levels_[level].subtree.quotient(b)) ++level;
    return level;
  }

  /// The link up to this level on the route to d, from the object below it whose subtree contains the node.
  std::uint32_t link_up(std::uint32_t level, std::uint32_t node, std::uint32_t d) const {
    const FatTreeLevel& upper = levels_[level];
    const FatTreeLevel& lower = levels_[level - 1];
    const std::uint32_t object = lower.subtree.quotient(node) * lower.roots.divisor() + lower.roots.remainder(d);
    const std::uint32_t digit = upper.parents.remainder(lower.roots.quotient(d));
    return upper.first_link + 2 * (object * upper.parents.divisor() + digit);
  }

  NetworkShape shape_;
  std::vector<FatTreeLevel> levels_;  // the nodes first
  std::uint32_t vertices_;
  std::uint32_t links_;
  Cost per_hop_;
};

}  // namespace

Result<NetworkPtr> make_fat_tree(std::vector<std::uint32_t> children, std::vector<std::uint32_t> parents,
                                 Cost per_hop) {
  const std::string kind = "fattree";
  if (auto valid = check_sizes(kind, children); !valid) return propagate(valid);
  if (auto valid = check_sizes(kind, parents); !valid) return propagate(valid);
  if (auto valid = check_cost(kind, per_hop); !valid) return propagate(valid);
  if (children.size() != parents.size()) {
    return bad_network(kind, fmt::format("{} numbers of children but {} of parents", children.size(), parents.size()),
                       "give as many parents as children: one number per level, top down");
  }
  std::uint64_t nodes = 1;
  for (const std::uint32_t count : children) nodes = capped_product(nodes, count);
  if (auto valid = check_count(kind, nodes, "nodes"); !valid) return propagate(valid);

  std::vector<FatTreeLevel> levels{{Divider(1), Divider(1), Divider(1), Divider(1), 0, 0}};
  std::uint64_t vertices = nodes, links = 0, subtree = 1, roots = 1, below = nodes;
  for (std::size_t level = children.size(); level-- > 0;) {
    subtree *= children[level];
    roots = capped_product(roots, parents[level]);
    const auto first_vertex = static_cast<std::uint32_t>(vertices), first_link = static_cast<std::uint32_t>(links);
    vertices += capped_product(nodes / subtree, roots);
    links += capped_product(2 * below, parents[level]);
    if (auto valid = check_count(kind, vertices, "vertices"); !valid) return propagate(valid);
    if (auto valid = check_count(kind, links, "links"); !valid) return propagate(valid);
    below = nodes / subtree * roots;
    levels.push_back({Divider(static_cast<std::uint32_t>(subtree)), Divider(static_cast<std::uint32_t>(roots)),
                      Divider(children[level]), Divider(parents[level]), first_vertex, first_link});
  }
  return std::make_shared<FatTree>(FatTreeShape{std::move(children), std::move(parents)}, std::move(levels),
                                   static_cast<std::uint32_t>(vertices), static_cast<std::uint32_t>(links), per_hop);
}

}  // namespace rankloom
