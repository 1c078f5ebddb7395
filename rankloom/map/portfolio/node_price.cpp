// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the price of a node.
#include "rankloom/map/portfolio/node_price.hpp"

#include <algorithm>
#include <vector>

#include "rankloom/model/rank_limits.hpp"

namespace rankloom {

NodePrice::NodePrice(const MapProblem& problem, double price) : problem_(problem), price_(price) {
  if (!any()) return;
  const Topology& topology = problem.topology;
  IdVector<Node, std::uint64_t> slots(topology.node_count(), 0);
  for (const Core core : topology.cores()) slots[topology.node_of(core)] += problem.capacities[core];
  std::vector<Node> largest_first;
  for (const Node node : topology.nodes()) largest_first.push_back(node);
  std::stable_sort(largest_first.begin(), largest_first.end(), [&](Node a, Node b) { return slots[a] > slots[b]; });
  fewest_ = IdVector<Node, bool>(topology.node_count(), false);
  for (std::uint64_t fitting = 0; fitting < problem.graph.rank_count(); ++fewest_count_) {
    const Node node = largest_first[fewest_count_];
    fewest_[node] = true;
    fitting += slots[node];
  }
}

double NodePrice::factor(std::span<const Core> core_of) const {
  if (!any()) return 1;
  return 1 + price_ * (static_cast<double>(nodes_used(core_of, problem_.topology)) - fewest_count_);
}

template <class Includes>
Capacities NodePrice::of_nodes(const Includes& includes) const {
  IdVector<Core, std::uint32_t> slots(problem_.topology.core_count(), 0);
  for (const Core core : problem_.topology.cores())
    if (includes(problem_.topology.node_of(core))) slots[core] = problem_.capacities[core];
  return Capacities::of_slots(std::move(slots));
}

Capacities NodePrice::fewest() const {
  return of_nodes([&](Node node) { return fewest_[node]; });
}

Capacities NodePrice::in_use(std::span<const Core> core_of) const {
  if (!any()) return problem_.capacities;
  IdVector<Node, bool> used(problem_.topology.node_count(), false);
  for (const Core core : core_of) used[problem_.topology.node_of(core)] = true;
  return of_nodes([&](Node node) { return used[node]; });
}

}  // namespace rankloom
