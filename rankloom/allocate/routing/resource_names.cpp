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

std::string resource_name(const Network& network, Exclusive exclusive, std::uint32_t resource,
                          std::span<const std::string> node_names) {
  const auto name = [&](Vertex vertex) { return vertex_name(network, vertex, node_names); };
  if (exclusive == Exclusive::routers)
    return (resource < network.node_count() ? "the router of " : "") + name(Vertex{resource});
  const auto [from, to] = network.endpoints(Link{resource});
  return fmt::format("the link from {} to {}", name(from), name(to));
}

std::string to_string(const Conflict& conflict, const Network& network, std::span<const std::string> node_names) {
  const auto jobs = fmt::format("jobs {} and {}", conflict.first_job, conflict.second_job);
  if (conflict.kind == Conflict::Kind::node)
    return fmt::format("{} belongs to {}", vertex_name(network, Vertex{conflict.number}, node_names), jobs);
  const Exclusive exclusive = conflict.kind == Conflict::Kind::link ? Exclusive::links : Exclusive::routers;
  return fmt::format("{} is used by {}", resource_name(network, exclusive, conflict.number, node_names), jobs);
}

}  // namespace rankloom
