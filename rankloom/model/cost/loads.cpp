// SPDX-License-Identifier: Apache-2.0
// model/cost: the load of network links and of cores under a placement.
#include "rankloom/model/cost/loads.hpp"

#include <algorithm>

namespace rankloom {

std::vector<double> link_loads(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  std::vector<double> loads(topology.link_count(), 0.0);
  std::vector<Link> route;
  for (const Rank rank : graph.ranks()) {
    const Core from = core_of[index(rank)];
    const auto targets = graph.targets(rank);
    const auto bytes = graph.bytes(rank);
    for (std::size_t edge = 0; edge < targets.size(); ++edge) {
      route.clear();
      topology.route(from, core_of[index(targets[edge])], route);
      for (const Link link : route) loads[index(link)] += bytes[edge];
    }
  }
  return loads;
}

LoadBalance load_balance(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  IdVector<Core, double> load_on(topology.core_count(), 0.0);
  double total = 0, max_rank_load = 0, usable_cores = 0;
  for (const Rank rank : graph.ranks()) {
    load_on[core_of[index(rank)]] += graph.load(rank);
    total += graph.load(rank);
    max_rank_load = std::max(max_rank_load, graph.load(rank));
  }
  LoadBalance balance;
  for (const Core core : topology.cores()) {
    usable_cores += topology.capacity(core) > 0 ? 1 : 0;
    balance.heaviest_core = std::max(balance.heaviest_core, load_on[core]);
  }
  balance.lower_bound = std::max(max_rank_load, usable_cores > 0 ? total / usable_cores : 0);
  return balance;
}

}  // namespace rankloom
