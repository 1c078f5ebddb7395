// SPDX-License-Identifier: Apache-2.0
// allocate: switch trees and fat trees alike, as parts of parts: subtrees, the switches on top of them, the ports
// above.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/network.hpp"

namespace rankloom {

struct Subtree {
  std::uint32_t parent = 0;     ///< Itself for the whole machine.
  std::uint32_t height = 1;     ///< 1: only nodes below its top.
  std::uint32_t diameter = 0;   ///< Hops between the farthest nodes below it.
  std::uint32_t first_top = 0;  ///< Vertex of the first switch on top of it; in a fat tree there may be several.
  std::uint32_t tops = 1;
  std::uint32_t ports = 0;       ///< Cables that lead up from its tops; 0 for the whole machine.
  std::uint32_t first_link = 0;  ///< Of these, a link up and a link down each.
  /// Link up of the port that messages to nodes with this remainder take; the link down follows it.
  std::uint32_t port(std::uint32_t remainder) const {
    return first_link + 2 * ((remainder % tops) * (ports / tops) + remainder / tops);
  }
  // Places in TreeView's lists.
  std::uint32_t first_node = 0, own_end = 0, end_node = 0;
  std::uint32_t first_child = 0, end_child = 0;
};

/// Of a tree or a fat tree. Children stand before their parents.
class TreeView {
 public:
  explicit TreeView(const Network& network);

  std::span<const Subtree> parts() const { return parts_; }
  std::span<const std::uint32_t> children(std::uint32_t part) const {
    return std::span(children_).subspan(parts_[part].first_child, parts_[part].end_child - parts_[part].first_child);
  }
  /// Nodes that hang on its top itself, and all nodes below.
  std::span<const Node> own_nodes(const Subtree& part) const {
    return std::span(nodes_).subspan(part.first_node, part.own_end - part.first_node);
  }
  std::span<const Node> nodes_below(const Subtree& part) const {
    return std::span(nodes_).subspan(part.first_node, part.end_node - part.first_node);
  }
  /// Subtrees by height, the lowest first; those of one height in the order of their nodes.
  std::span<const std::vector<std::uint32_t>> by_height() const { return by_height_; }

 private:
  void read_tree(const Network& network);
  void read_fat_tree(const Network& network);

  std::vector<Subtree> parts_;
  std::vector<std::uint32_t> children_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> by_height_;
};

}  // namespace rankloom
