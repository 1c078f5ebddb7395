// SPDX-License-Identifier: Apache-2.0
// allocate: f_rule of switch trees and fat trees, by counting how many of the nodes are below each switch.
#include <algorithm>
#include <variant>

#include "rankloom/allocate/routing/route_footprint.hpp"

namespace rankloom {

namespace {

/// A message passes the cable above a vertex when one end is below it and the other is not.
class TreeRule final : public RoutingRule {
 public:
  TreeRule(const Network& network, Exclusive exclusive)
      : RoutingRule(network, exclusive), parent_(std::get<TreeShape>(network.shape()).parent) {}

  void add_passages(std::span<const Node> nodes, Bits& passages) const override {
    if (nodes.size() < 2) return;
    std::vector<std::uint32_t> below(parent_.size());
    std::vector<std::uint32_t> touched;
    for (const Node node : nodes) {
      for (std::uint32_t v = index(node);; v = index(parent_[v])) {
        if (below[v]++ == 0) touched.push_back(v);
        if (index(parent_[v]) == v) break;
      }
    }
    for (const std::uint32_t v : touched) {
      if (below[v] == nodes.size()) continue;
      if (exclusive() == Exclusive::links) {
        const std::size_t link_up = std::size_t{2} * v;
        passages.set(link_up);
        passages.set(link_up + 1);
      } else {
        if (v >= network().node_count()) passages.set(v);
        passages.set(index(parent_[v]));
      }
    }
  }

 private:
  std::span<const Vertex> parent_;
};

/// D-mod-k: on its way up from the subtree of its source, a message to d takes the port d mod W of that subtree, where
/// W counts the ports; on its way down it comes through the port d mod W of the subtree that holds d.
class FatTreeRule final : public RoutingRule {
 public:
  FatTreeRule(const Network& network, Exclusive exclusive) : RoutingRule(network, exclusive) {
    const auto& shape = std::get<FatTreeShape>(network.shape());
    Level level;
    std::uint32_t links = 0, vertices = 0;
    for (std::size_t from_top = shape.children.size(); from_top-- > 0;) {
      const std::uint32_t subtrees = network.node_count() / level.nodes;
      level.siblings = shape.children[from_top];
      level.parents = shape.parents[from_top];
      level.ports = level.tops * level.parents;
      level.first_link = links;
      level.first_top = vertices;
      level.first_above = vertices + subtrees * level.tops;
      levels_.push_back(level);
      links += 2 * subtrees * level.ports;
      vertices = level.first_above;
      level.nodes *= level.siblings;
      level.tops = level.ports;
    }
  }

  void add_passages(std::span<const Node> nodes, Bits& passages) const override {
    if (nodes.size() < 2) return;
    for (const Level& level : levels_) {
      if (!add_level(level, nodes, passages)) return;
    }
  }

 private:
  /// The subtrees of one level and the ports above them. On the lowest level each node is a subtree.
  struct Level {
    std::uint32_t nodes = 1;     // below each
    std::uint32_t tops = 1;      // equal switches on top of each
    std::uint32_t parents = 0;   // of each of these
    std::uint32_t ports = 0;     // tops * parents
    std::uint32_t siblings = 0;  // under one subtree of the next level
    std::uint32_t first_link = 0, first_top = 0, first_above = 0;
  };

  /// False when one subtree holds all nodes: nothing goes above it.
  bool add_level(const Level& level, std::span<const Node> nodes, Bits& passages) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> users;  // subtree, port of a node in it
    std::vector<std::uint32_t> targets(level.ports);
    for (const Node node : nodes) {
      users.emplace_back(index(node) / level.nodes, index(node) % level.ports);
      ++targets[users.back().second];
    }
    std::sort(users.begin(), users.end());
    if (users.front().first == users.back().first) return false;
    for (std::size_t first = 0; first < users.size();) {
      const std::uint32_t subtree = users[first].first;
      std::size_t end = first;
      for (; end < users.size() && users[end].first == subtree; ++end) {
        pass(level, subtree, users[end].second, false, passages);
        --targets[users[end].second];
      }
      for (std::uint32_t port = 0; port < level.ports; ++port) {
        if (targets[port] > 0) pass(level, subtree, port, true, passages);
      }
      for (; first < end; ++first) ++targets[users[first].second];
    }
    return true;
  }

  void pass(const Level& level, std::uint32_t subtree, std::uint32_t port, bool up, Bits& passages) const {
    const std::uint32_t top = port % level.tops, digit = port / level.tops;
    const std::uint32_t object = subtree * level.tops + top;
    if (exclusive() == Exclusive::links) {
      passages.set(level.first_link + 2 * (object * level.parents + digit) + (up ? 0 : 1));
      return;
    }
    if (level.nodes > 1) passages.set(level.first_top + object);
    passages.set(level.first_above + subtree / level.siblings * level.ports + port);
  }

  std::vector<Level> levels_;  // the nodes first
};

/// Whatever has no formula.
class WalkedRule final : public RoutingRule {
 public:
  using RoutingRule::RoutingRule;
  void add_passages(std::span<const Node> nodes, Bits& passages) const override {
    walk_routes(network(), exclusive(), nodes, passages);
  }
};

}  // namespace

std::unique_ptr<RoutingRule> make_tree_rule(const Network& network, Exclusive exclusive) {
  return std::make_unique<TreeRule>(network, exclusive);
}

std::unique_ptr<RoutingRule> make_fat_tree_rule(const Network& network, Exclusive exclusive) {
  return std::make_unique<FatTreeRule>(network, exclusive);
}

std::unique_ptr<RoutingRule> make_walked_rule(const Network& network, Exclusive exclusive) {
  return std::make_unique<WalkedRule>(network, exclusive);
}

}  // namespace rankloom
