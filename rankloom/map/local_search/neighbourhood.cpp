// SPDX-License-Identifier: Apache-2.0
// map/local_search: the candidate cores for a rank that should move close to a given core.
#include "rankloom/map/local_search/neighbourhood.hpp"

#include <algorithm>

namespace rankloom {
namespace {

/// The most adjacent nodes that are stored per node.
constexpr std::size_t max_adjacent_nodes = 16;

}  // namespace

Neighbourhood::Neighbourhood(const Topology& topology) : topology_(topology) {
  if (topology.is_matrix()) {
    find_adjacent_by_distance();
  } else if (topology.routed()) {
    find_adjacent_by_links();
  }
}

/// Two nodes are adjacent when a link connects them or they are attached to the same router.
void Neighbourhood::find_adjacent_by_links() {
  const Network& network = topology_.network();
  const std::uint32_t nodes = network.node_count();
  std::vector<std::vector<Node>> of_vertex(network.vertex_count());
  for (std::uint32_t link = 0; link < network.link_count(); ++link) {
    const auto [from, to] = network.endpoints(Link{link});
    if (index(from) < nodes) of_vertex[index(to)].push_back(Node{index(from)});
  }
  std::vector<std::vector<Node>> by_router(nodes);
  for (std::uint32_t router = nodes; router < network.vertex_count(); ++router) {
    const auto& members = of_vertex[router];
    for (std::size_t at = 0; at < members.size(); ++at) {
      // On a router with many nodes: those that follow in the router's order.
      for (std::size_t step = 1; step < members.size() && step <= max_adjacent_nodes; ++step) {
        by_router[index(members[at])].push_back(members[(at + step) % members.size()]);
      }
    }
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    auto& list = by_router[node];
    list.insert(list.begin(), of_vertex[node].begin(), of_vertex[node].end());
  }
  store_adjacent(std::move(by_router));
}

void Neighbourhood::find_adjacent_by_distance() {
  std::vector<std::vector<Node>> lists(topology_.node_count());
  std::vector<std::pair<double, Node>> others;
  for (const Node node : topology_.nodes()) {
    others.clear();
    const Core node_core{index(node)};  // with a distance matrix every core is a node
    for (const Core core : topology_.cores()) {
      if (core == node_core) continue;
      others.emplace_back(
          topology_.cost(node_core, core).inverse_bandwidth + topology_.cost(core, node_core).inverse_bandwidth,
          Node{index(core)});
    }
    const std::size_t count = std::min(max_adjacent_nodes, others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(count), others.end());
    for (std::size_t at = 0; at < count; ++at) lists[index(node)].push_back(others[at].second);
  }
  store_adjacent(std::move(lists));
}

void Neighbourhood::store_adjacent(std::vector<std::vector<Node>> lists) {
  adjacent_offset_.push_back(0);
  for (auto& list : lists) {
    if (list.size() > max_adjacent_nodes) list.resize(max_adjacent_nodes);
    adjacent_.insert(adjacent_.end(), list.begin(), list.end());
    adjacent_offset_.push_back(adjacent_.size());
  }
}

std::span<const Node> Neighbourhood::adjacent_nodes(Node node) const {
  return {adjacent_.data() + adjacent_offset_[index(node)],
          adjacent_offset_[index(node) + 1] - adjacent_offset_[index(node)]};
}

void Neighbourhood::regions(Core from, Core centre, std::vector<Region>& regions) const {
  if (from == centre) return;
  const auto levels = topology_.levels();
  const std::size_t parting = topology_.divergence_level(from, centre);
  for (std::size_t level = levels.size(); level-- > parting;) {
    // A private level has the same cores as the level below.
    if (level + 1 < levels.size() && levels[level + 1].is_private()) continue;
    regions.push_back({level, topology_.object_of(level, centre)});
  }
  if (adjacent_offset_.empty() || parting > topology_.node_level()) return;
  const Node node = topology_.node_of(centre);
  if (!adjacent_nodes(node).empty()) regions.push_back({levels.size(), index(node)});
}

Core Neighbourhood::probe(const Region& region, Core centre) const {
  if (region.level == topology_.levels().size()) {
    const Node next = adjacent_nodes(Node{region.object}).front();
    return topology_.first_core(topology_.node_level(), index(next));
  }
  const Core first = topology_.first_core(region.level, region.object);
  const Core end = topology_.first_core(region.level, region.object + 1);
  return first == centre && index(end) - index(first) > 1 ? Core{index(first) + 1} : first;
}

void Neighbourhood::cores(const Region& region, std::uint64_t turn, std::vector<Core>& cores) const {
  const auto sample = [&](std::size_t level, std::uint32_t object, std::uint32_t max_count) {
    const std::uint64_t first = index(topology_.first_core(level, object));
    const std::uint64_t size = index(topology_.first_core(level, object + 1)) - first;
    const std::uint64_t count = std::min<std::uint64_t>(size, max_count);
    for (std::uint64_t at = 0; at < count; ++at) {
      cores.push_back(Core{static_cast<std::uint32_t>(first + (at * size / count + (count < size ? turn : 0)) % size)});
    }
  };
  if (region.level < topology_.levels().size()) return sample(region.level, region.object, window);
  const auto nodes = adjacent_nodes(Node{region.object});
  const auto each = std::max<std::uint32_t>(1, window / static_cast<std::uint32_t>(nodes.size()));
  for (const Node node : nodes) sample(topology_.node_level(), index(node), each);
}

}  // namespace rankloom
