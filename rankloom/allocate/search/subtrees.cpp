// SPDX-License-Identifier: Apache-2.0
// allocate: subtrees out of the shapes of trees and fat trees.
#include "rankloom/allocate/search/subtrees.hpp"

#include <algorithm>
#include <variant>

#include "rankloom/model/network/networks.hpp"

namespace rankloom {

TreeView::TreeView(const Network& network) {
  if (std::holds_alternative<TreeShape>(network.shape())) {
    read_tree(network);
  } else {
    read_fat_tree(network);
  }
  for (std::uint32_t i = 0; i < parts_.size(); ++i) {
    by_height_.resize(std::max<std::size_t>(by_height_.size(), parts_[i].height));
    by_height_[parts_[i].height - 1].push_back(i);
  }
}

void TreeView::read_tree(const Network& network) {
  const auto& tree = std::get<TreeShape>(network.shape());
  const std::uint32_t nodes = tree.nodes;
  const std::span<const Vertex> parent = tree.parent;
  std::vector<std::vector<std::uint32_t>> below(parent.size());
  for (std::uint32_t v = 0; v + 1 < parent.size(); ++v) below[index(parent[v])].push_back(v);
  // Returns the number of the part, the farthest node below it and the farthest pair.
  struct Found {
    std::uint32_t part, depth, diameter;
  };
  const auto read = [&](const auto& self, std::uint32_t v) -> Found {
    Subtree part;
    part.first_node = static_cast<std::uint32_t>(nodes_.size());
    for (const std::uint32_t child : below[v]) {
      if (child < nodes) nodes_.push_back(Node{child});
    }
    part.own_end = static_cast<std::uint32_t>(nodes_.size());
    std::uint32_t depth = part.own_end > part.first_node ? 1 : 0;
    part.diameter = part.own_end > part.first_node + 1 ? 2 : 0;
    std::vector<std::uint32_t> children;
    for (const std::uint32_t child : below[v]) {
      if (child < nodes) continue;
      const Found found = self(self, child);
      children.push_back(found.part);
      if (depth > 0) part.diameter = std::max(part.diameter, depth + found.depth + 1);
      part.diameter = std::max(part.diameter, found.diameter);
      part.height = std::max(part.height, parts_[found.part].height + 1);
      depth = std::max(depth, found.depth + 1);
    }
    part.end_node = static_cast<std::uint32_t>(nodes_.size());
    part.first_child = static_cast<std::uint32_t>(children_.size());
    children_.insert(children_.end(), children.begin(), children.end());
    part.end_child = static_cast<std::uint32_t>(children_.size());
    part.first_top = v;
    part.first_link = 2 * v;
    part.ports = v + 1 == parent.size() ? 0 : 1;
    const auto number = static_cast<std::uint32_t>(parts_.size());
    part.parent = number;
    parts_.push_back(part);
    for (const std::uint32_t child : children) parts_[child].parent = number;
    return {number, depth, part.diameter};
  };
  if (parent.size() == 1) {  // one node and no switch
    nodes_.push_back(Node{0});
    parts_.push_back({.own_end = 1, .end_node = 1});
    return;
  }
  read(read, static_cast<std::uint32_t>(parent.size() - 1));
}

void TreeView::read_fat_tree(const Network& network) {
  const auto& [children, parents] = std::get<FatTreeShape>(network.shape());
  const std::uint32_t nodes = network.node_count();
  for (std::uint32_t node = 0; node < nodes; ++node) nodes_.push_back(Node{node});
  const auto levels = static_cast<std::uint32_t>(children.size());
  std::uint32_t below = 1, tops = 1, vertices = nodes, links = 2 * nodes * parents.back(), first_of_level = 0;
  for (std::uint32_t height = 1; height <= levels; ++height) {
    const std::uint32_t fan = children[levels - height], inner = below;
    below *= fan;
    tops *= parents[levels - height];
    const bool whole = height == levels;
    const std::uint32_t ports = whole ? 0 : tops * parents[levels - height - 1];
    const auto first = static_cast<std::uint32_t>(parts_.size());
    for (std::uint32_t i = 0; i < nodes / below; ++i) {
      Subtree part;
      part.height = height;
      part.diameter = below == 1 ? 0 : 2 * height;
      part.first_top = vertices + i * tops;
      part.tops = tops;
      part.ports = ports;
      part.first_link = links + 2 * i * ports;
      part.first_node = i * below;
      part.end_node = (i + 1) * below;
      part.own_end = height == 1 ? part.end_node : part.first_node;
      part.first_child = static_cast<std::uint32_t>(children_.size());
      for (std::uint32_t c = 0; height > 1 && c < below / inner; ++c) children_.push_back(first_of_level + i * fan + c);
      part.end_child = static_cast<std::uint32_t>(children_.size());
      part.parent = whole ? first + i : first + nodes / below + i / children[levels - height - 1];
      parts_.push_back(part);
    }
    first_of_level = first;
    vertices += nodes / below * tops;
    links += 2 * (nodes / below) * ports;
  }
}

}  // namespace rankloom
