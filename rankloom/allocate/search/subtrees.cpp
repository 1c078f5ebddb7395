// SPDX-License-Identifier: Apache-2.0
// allocate/search: enumerates the subtrees of trees and fat trees.
#include "rankloom/allocate/search/subtrees.hpp"

#include <algorithm>
#include <variant>

#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

Subtrees::Subtrees(const Network& network) {
  if (std::holds_alternative<TreeShape>(network.shape())) {
    read_tree(network);
  } else {
    read_fat_tree(network);
  }
  for (std::uint32_t i = 0; i < subtrees_.size(); ++i) {
    by_height_.resize(std::max<std::size_t>(by_height_.size(), subtrees_[i].height));
    by_height_[subtrees_[i].height - 1].push_back(i);
  }
}

void Subtrees::read_tree(const Network& network) {
  const auto& tree = std::get<TreeShape>(network.shape());
  const std::uint32_t nodes = tree.nodes;
  const std::span<const Vertex> parent = tree.parent;
  std::vector<std::vector<std::uint32_t>> below(parent.size());
  for (std::uint32_t v = 0; v + 1 < parent.size(); ++v) below[index(parent[v])].push_back(v);
  // The number of the subtree, the distance to its most distant node, and its diameter.
  struct Summary {
    std::uint32_t subtree, depth, diameter;
  };
  const auto read = [&](const auto& self, std::uint32_t v) -> Summary {
    Subtree subtree;
    subtree.first_node = static_cast<std::uint32_t>(nodes_.size());
    for (const std::uint32_t child : below[v]) {
      if (child < nodes) nodes_.push_back(Node{child});
    }
    subtree.direct_end = static_cast<std::uint32_t>(nodes_.size());
    std::uint32_t depth = subtree.direct_end > subtree.first_node ? 1 : 0;
    subtree.diameter = subtree.direct_end > subtree.first_node + 1 ? 2 : 0;
    std::vector<std::uint32_t> children;
    for (const std::uint32_t child : below[v]) {
      if (child < nodes) continue;
      const Summary summary = self(self, child);
      children.push_back(summary.subtree);
      if (depth > 0) subtree.diameter = std::max(subtree.diameter, depth + summary.depth + 1);
      subtree.diameter = std::max(subtree.diameter, summary.diameter);
      subtree.height = std::max(subtree.height, subtrees_[summary.subtree].height + 1);
      depth = std::max(depth, summary.depth + 1);
    }
    subtree.end_node = static_cast<std::uint32_t>(nodes_.size());
    subtree.first_child = static_cast<std::uint32_t>(children_.size());
    children_.insert(children_.end(), children.begin(), children.end());
    subtree.end_child = static_cast<std::uint32_t>(children_.size());
    subtree.first_top = v;
    subtree.first_link = 2 * v;
    subtree.ports = v + 1 == parent.size() ? 0 : 1;
    const auto number = static_cast<std::uint32_t>(subtrees_.size());
    subtree.parent = number;
    subtrees_.push_back(subtree);
    for (const std::uint32_t child : children) subtrees_[child].parent = number;
    return {number, depth, subtree.diameter};
  };
  if (parent.size() == 1) {  // one node and no switch
    nodes_.push_back(Node{0});
    subtrees_.push_back({.direct_end = 1, .end_node = 1});
    return;
  }
  read(read, static_cast<std::uint32_t>(parent.size() - 1));
}

void Subtrees::read_fat_tree(const Network& network) {
  const auto& [children, parents] = std::get<FatTreeShape>(network.shape());
  const std::uint32_t nodes = network.node_count();
  for (std::uint32_t node = 0; node < nodes; ++node) nodes_.push_back(Node{node});
  const auto levels = static_cast<std::uint32_t>(children.size());
  std::uint32_t below = 1, tops = 1, vertices = nodes, links = 2 * nodes * parents.back(), first_of_level = 0;
  for (std::uint32_t height = 1; height <= levels; ++height) {
    const std::uint32_t fan = children[levels - height], inner = below;
    below *= fan;
    tops *= parents[levels - height];
    const bool is_root = height == levels;
    const std::uint32_t ports = is_root ? 0 : tops * parents[levels - height - 1];
    const auto first = static_cast<std::uint32_t>(subtrees_.size());
    for (std::uint32_t i = 0; i < nodes / below; ++i) {
      Subtree subtree;
      subtree.height = height;
      subtree.diameter = below == 1 ? 0 : 2 * height;
      subtree.first_top = vertices + i * tops;
      subtree.tops = tops;
      subtree.ports = ports;
      subtree.first_link = links + 2 * i * ports;
      subtree.first_node = i * below;
      subtree.end_node = (i + 1) * below;
      subtree.direct_end = height == 1 ? subtree.end_node : subtree.first_node;
      subtree.first_child = static_cast<std::uint32_t>(children_.size());
      for (std::uint32_t c = 0; height > 1 && c < below / inner; ++c) children_.push_back(first_of_level + i * fan + c);
      subtree.end_child = static_cast<std::uint32_t>(children_.size());
      subtree.parent = is_root ? first + i : first + nodes / below + i / children[levels - height - 1];
      subtrees_.push_back(subtree);
    }
    first_of_level = first;
    vertices += nodes / below * tops;
    links += 2 * (nodes / below) * ports;
  }
}

}  // namespace rankloom
