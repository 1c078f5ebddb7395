// SPDX-License-Identifier: Apache-2.0
// model: bytes on every link of the network under a placement.
#include "rankloom/model/cost/link_loads.hpp"

namespace rankloom {

std::vector<double> link_loads(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  const Network& network = topology.network();
  std::vector<double> loads(network.link_count(), 0.0);
  std::vector<Link> route;
  for (const Rank rank : graph.ranks()) {
    const Node from = topology.node_of(core_of[index(rank)]);
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      const Node to = topology.node_of(core_of[index(targets[edge])]);
      if (from == to) continue;
      route.clear();
      network.route(from, to, route);
      for (const Link link : route) loads[index(link)] += bytes[edge];
    }
  }
  return loads;
}

}  // namespace rankloom
