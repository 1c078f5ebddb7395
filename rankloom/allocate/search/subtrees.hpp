// SPDX-License-Identifier: Apache-2.0
// allocate/search: switch trees and fat trees in one representation: nested subtrees, the switches at their tops and
// the ports above them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/ids.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {

struct Subtree {
  std::uint32_t parent = 0;     ///< The subtree itself for the whole machine.
  std::uint32_t height = 1;     ///< 1: the children of its top are nodes.
  std::uint32_t diameter = 0;   ///< Hops between the most distant nodes below it.
  std::uint32_t first_top = 0;  ///< Vertex of its first top switch; a fat tree may have several.
  std::uint32_t tops = 1;
  std::uint32_t ports = 0;       ///< Cables above its top switches; 0 for the whole machine.
  std::uint32_t first_link = 0;  ///< Of these cables: one link up and one link down per cable.
  /// The link up of the port for destinations with this remainder (D-mod-k); the link down has the next number.
  std::uint32_t port(std::uint32_t remainder) const {
    return first_link + 2 * ((remainder % tops) * (ports / tops) + remainder / tops);
  }
  // Index ranges in the arrays of Subtrees.
  std::uint32_t first_node = 0, direct_end = 0, end_node = 0;
  std::uint32_t first_child = 0, end_child = 0;
};

/// All subtrees of a tree or a fat tree. Children precede their parents.
class Subtrees {
 public:
  explicit Subtrees(const Network& network);

  std::span<const Subtree> subtrees() const { return subtrees_; }
  std::span<const std::uint32_t> children(std::uint32_t subtree) const {
    return std::span(children_).subspan(subtrees_[subtree].first_child,
                                        subtrees_[subtree].end_child - subtrees_[subtree].first_child);
  }
  /// Nodes that are connected to the top switch itself.
  std::span<const Node> direct_nodes(const Subtree& subtree) const {
    return std::span(nodes_).subspan(subtree.first_node, subtree.direct_end - subtree.first_node);
  }
  /// All nodes below the subtree.
  std::span<const Node> nodes_below(const Subtree& subtree) const {
    return std::span(nodes_).subspan(subtree.first_node, subtree.end_node - subtree.first_node);
  }
  /// Subtrees by height in ascending order; subtrees of one height in the order of their nodes.
  std::span<const std::vector<std::uint32_t>> by_height() const { return by_height_; }

 private:
  void read_tree(const Network& network);
  void read_fat_tree(const Network& network);

  std::vector<Subtree> subtrees_;
  std::vector<std::uint32_t> children_;
  std::vector<Node> nodes_;
  std::vector<std::vector<std::uint32_t>> by_height_;
};

}  // namespace rankloom
