// SPDX-License-Identifier: Apache-2.0
// allocate/routing: names of nodes, switches and links.
#include "rankloom/allocate/routing/resource_names.hpp"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "rankloom/allocate/search/subtrees.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {

std::string vertex_name(const Network& network, Vertex vertex, std::span<const std::string> node_names) {
  if (index(vertex) < network.node_count()) return node_names[index(vertex)];
  const NetworkShape& shape = network.shape();
  if (std::holds_alternative<TreeShape>(shape) || std::holds_alternative<FatTreeShape>(shape)) {
    const Subtrees tree(network);
    for (const Subtree& subtree : tree.subtrees()) {
      if (index(vertex) < subtree.first_top || index(vertex) >= subtree.first_top + subtree.tops) continue;
      const auto below = tree.nodes_below(subtree);
      if (below.empty()) break;
      const auto [first, last] = std::minmax_element(below.begin(), below.end());
      std::string name = fmt::format("above {} to {}", node_names[index(*first)], node_names[index(*last)]);
      if (subtree.tops == 1) return "the switch " + name;
      return fmt::format("switch {} of {} {}", index(vertex) - subtree.first_top + 1, subtree.tops, name);
    }
  }
  return fmt::format("router {}", index(vertex));
}

std::string to_string(const Conflict& conflict, const Network& network, std::span<const std::string> node_names) {
  const auto jobs = fmt::format("jobs {} and {}", conflict.first_job, conflict.second_job);
  const auto name = [&](Vertex vertex) { return vertex_name(network, vertex, node_names); };
  switch (conflict.kind) {
    case Conflict::Kind::node:
      return fmt::format("{} belongs to {}", name(Vertex{conflict.number}), jobs);
    case Conflict::Kind::router: {
      const bool of_node = conflict.number < network.node_count();
      return fmt::format("{}{} is used by {}", of_node ? "the router of " : "", name(Vertex{conflict.number}), jobs);
    }
    case Conflict::Kind::link:
      break;
  }
  const auto [from, to] = network.endpoints(Link{conflict.number});
  return fmt::format("the link from {} to {} is used by {}", name(from), name(to), jobs);
}

}  // namespace rankloom
