// SPDX-License-Identifier: Apache-2.0
// model: how the ranks' loads are spread over the cores.
#include "rankloom/model/cost/load_balance.hpp"

#include <algorithm>

namespace rankloom {

LoadBalance load_balance(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  IdVector<Core, double> load_on(topology.core_count(), 0.0);
  double total = 0, heaviest_rank = 0, usable = 0;
  for (const Rank rank : graph.ranks()) {
    load_on[core_of[index(rank)]] += graph.load(rank);
    total += graph.load(rank);
    heaviest_rank = std::max(heaviest_rank, graph.load(rank));
  }
  LoadBalance balance;
  for (const Core core : topology.cores()) {
    usable += topology.capacity(core) > 0 ? 1 : 0;
    balance.heaviest_core = std::max(balance.heaviest_core, load_on[core]);
  }
  balance.bound = std::max(heaviest_rank, usable > 0 ? total / usable : 0);
  return balance;
}

}  // namespace rankloom
