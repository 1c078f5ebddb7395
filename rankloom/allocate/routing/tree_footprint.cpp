// SPDX-License-Identifier: Apache-2.0
// allocate/routing: the route footprint of switch trees and fat trees: counts the nodes below each switch.
#include <algorithm>
#include <variant>

#include "rankloom/allocate/routing/route_footprint.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

namespace {

/// A message uses the cable above a vertex if one end point is below the vertex and the other one is not.
class TreeFootprint final : public RouteFootprint {
 public:
  TreeFootprint(const Network& network, Exclusive exclusive)
      : RouteFootprint(network, exclusive), parent_(std::get<TreeShape>(network.shape()).parent) {}

  void add_resources(std::span<const Node> nodes, Bitset& shared_resources) const override {
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
        shared_resources.set(link_up);
        shared_resources.set(link_up + 1);
      } else {
        if (v >= network().node_count()) shared_resources.set(v);
        shared_resources.set(index(parent_[v]));
      }
    }
  }

 private:
  std::span<const Vertex> parent_;
};

/// D-mod-k routing: with W ports per subtree, a message to node d leaves the subtree of its source through port d mod W
/// and enters the subtree that contains d through port d mod W.
class FatTreeFootprint final : public RouteFootprint {
 public:
  FatTreeFootprint(const Network& network, Exclusive exclusive) : RouteFootprint(network, exclusive) {
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

  void add_resources(std::span<const Node> nodes, Bitset& shared_resources) const override {
    if (nodes.size() < 2) return;
    for (const Level& level : levels_) {
      if (!add_level(level, nodes, shared_resources)) return;
    }
  }

 private:
  /// The subtrees of one level and the ports above them. On the lowest level each node is a subtree of its own.
  struct Level {
    std::uint32_t nodes = 1;     // below each subtree
    std::uint32_t tops = 1;      // equivalent top switches of each subtree
    std::uint32_t parents = 0;   // of each top switch
    std::uint32_t ports = 0;     // tops * parents
    std::uint32_t siblings = 0;  // below one subtree of the next level
    std::uint32_t first_link = 0, first_top = 0, first_above = 0;
  };

  /// False if one subtree contains all nodes, so that no message leaves it.
  bool add_level(const Level& level, std::span<const Node> nodes, Bitset& shared_resources) const {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> node_ports;  // subtree, port of a node in it
    std::vector<std::uint32_t> targets(level.ports);
    for (const Node node : nodes) {
      node_ports.emplace_back(index(node) / level.nodes, index(node) % level.ports);
      ++targets[node_ports.back().second];
    }
    std::sort(node_ports.begin(), node_ports.end());
    if (node_ports.front().first == node_ports.back().first) return false;
    for (std::size_t first = 0; first < node_ports.size();) {
      const std::uint32_t subtree = node_ports[first].first;
      std::size_t end = first;
      for (; end < node_ports.size() && node_ports[end].first == subtree; ++end) {
        add_port(level, subtree, node_ports[end].second, false, shared_resources);
        --targets[node_ports[end].second];
      }
      for (std::uint32_t port = 0; port < level.ports; ++port) {
        if (targets[port] > 0) add_port(level, subtree, port, true, shared_resources);
      }
      for (; first < end; ++first) ++targets[node_ports[first].second];
    }
    return true;
  }

  void add_port(const Level& level, std::uint32_t subtree, std::uint32_t port, bool up,
                Bitset& shared_resources) const {
    const std::uint32_t top = port % level.tops, digit = port / level.tops;
    const std::uint32_t object = subtree * level.tops + top;
    if (exclusive() == Exclusive::links) {
      shared_resources.set(level.first_link + 2 * (object * level.parents + digit) + (up ? 0 : 1));
      return;
    }
    if (level.nodes > 1) shared_resources.set(level.first_top + object);
    shared_resources.set(level.first_above + subtree / level.siblings * level.ports + port);
  }

  std::vector<Level> levels_;  // bottom up
};

}  // namespace

std::unique_ptr<RouteFootprint> make_tree_footprint(const Network& network, Exclusive exclusive) {
  return std::make_unique<TreeFootprint>(network, exclusive);
}

std::unique_ptr<RouteFootprint> make_fat_tree_footprint(const Network& network, Exclusive exclusive) {
  return std::make_unique<FatTreeFootprint>(network, exclusive);
}

}  // namespace rankloom
