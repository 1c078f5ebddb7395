// SPDX-License-Identifier: Apache-2.0
// map/local_search: where on the machine somebody should look who wants to be near a given core.
#include "rankloom/map/local_search/vicinity.hpp"

#include <algorithm>

namespace rankloom {
namespace {

/// Nodes next to a node that are kept at most.
constexpr std::size_t most_next = 16;

}  // namespace

Vicinity::Vicinity(const Topology& topology) : topology_(topology) {
  if (topology.is_matrix()) {
    join_nodes_by_distance();
  } else if (topology.routed()) {
    join_nodes_by_links();
  }
}

/// Two nodes are next to each other when one cable joins them or they hang on the same router.
void Vicinity::join_nodes_by_links() {
  const Network& network = topology_.network();
  const std::uint32_t nodes = network.node_count();
  std::vector<std::vector<Node>> of_vertex(network.vertex_count());
  for (std::uint32_t link = 0; link < network.link_count(); ++link) {
    const auto [from, to] = network.ends(Link{link});
    if (index(from) < nodes) of_vertex[index(to)].push_back(Node{index(from)});
  }
  std::vector<std::vector<Node>> by_router(nodes);
  for (std::uint32_t router = nodes; router < network.vertex_count(); ++router) {
    const auto& members = of_vertex[router];
    for (std::size_t at = 0; at < members.size(); ++at) {
      // On a large router: those that follow in its own order.
      for (std::size_t step = 1; step < members.size() && step <= most_next; ++step) {
        by_router[index(members[at])].push_back(members[(at + step) % members.size()]);
      }
    }
  }
  for (std::uint32_t node = 0; node < nodes; ++node) {
    auto& list = by_router[node];
    list.insert(list.begin(), of_vertex[node].begin(), of_vertex[node].end());
  }
  join(std::move(by_router));
}

void Vicinity::join_nodes_by_distance() {
  std::vector<std::vector<Node>> lists(topology_.node_count());
  std::vector<std::pair<double, Node>> others;
  for (const Node node : topology_.nodes()) {
    others.clear();
    const Core here{index(node)};  // in a table every core is a node
    for (const Core core : topology_.cores()) {
      if (core == here) continue;
      others.emplace_back(topology_.cost(here, core).gap + topology_.cost(core, here).gap, Node{index(core)});
    }
    const std::size_t kept = std::min(most_next, others.size());
    std::partial_sort(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(kept), others.end());
    for (std::size_t at = 0; at < kept; ++at) lists[index(node)].push_back(others[at].second);
  }
  join(std::move(lists));
}

void Vicinity::join(std::vector<std::vector<Node>> lists) {
  next_offset_.push_back(0);
  for (auto& list : lists) {
    if (list.size() > most_next) list.resize(most_next);
    next_.insert(next_.end(), list.begin(), list.end());
    next_offset_.push_back(next_.size());
  }
}

std::span<const Node> Vicinity::nodes_next_to(Node node) const {
  return {next_.data() + next_offset_[index(node)], next_offset_[index(node) + 1] - next_offset_[index(node)]};
}

void Vicinity::regions(Core from, Core centre, std::vector<Region>& regions) const {
  if (from == centre) return;
  const auto levels = topology_.levels();
  const std::size_t parting = topology_.parting_level(from, centre);
  for (std::size_t level = levels.size(); level-- > parting;) {
    // A private level holds the same cores as the one below.
    if (level + 1 < levels.size() && levels[level + 1].is_private()) continue;
    regions.push_back({level, topology_.object_of(level, centre)});
  }
  if (next_offset_.empty() || parting > topology_.node_level()) return;
  const Node node = topology_.node_of(centre);
  if (!nodes_next_to(node).empty()) regions.push_back({levels.size(), index(node)});
}

Core Vicinity::probe(const Region& region, Core centre) const {
  if (region.level == topology_.levels().size()) {
    const Node next = nodes_next_to(Node{region.object}).front();
    return topology_.first_core(topology_.node_level(), index(next));
  }
  const Core first = topology_.first_core(region.level, region.object);
  const Core end = topology_.first_core(region.level, region.object + 1);
  return first == centre && index(end) - index(first) > 1 ? Core{index(first) + 1} : first;
}

void Vicinity::cores(const Region& region, std::uint64_t turn, std::vector<Core>& cores) const {
  const auto sample = [&](std::size_t level, std::uint32_t object, std::uint32_t most) {
    const std::uint64_t first = index(topology_.first_core(level, object));
    const std::uint64_t size = index(topology_.first_core(level, object + 1)) - first;
    const std::uint64_t shown = std::min<std::uint64_t>(size, most);
    for (std::uint64_t at = 0; at < shown; ++at) {
      cores.push_back(Core{static_cast<std::uint32_t>(first + (at * size / shown + (shown < size ? turn : 0)) % size)});
    }
  };
  if (region.level < topology_.levels().size()) return sample(region.level, region.object, window);
  const auto nodes = nodes_next_to(Node{region.object});
  const auto each = std::max<std::uint32_t>(1, window / static_cast<std::uint32_t>(nodes.size()));
  for (const Node node : nodes) sample(topology_.node_level(), index(node), each);
}

}  // namespace rankloom
