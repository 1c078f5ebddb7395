// SPDX-License-Identifier: Apache-2.0
// model/machine: the distance functors of the cost models that are sums over pairs.
#include "rankloom/model/machine/distance.hpp"

#include <algorithm>
#include <cassert>

namespace rankloom {

namespace {

/// The factors for one pair; smaller is better. Two ranks on one core cost nothing in bytes, time and hopbytes; for
/// quality their distance is the minimum of all pairs of cores. Quality divides by the latency if the topology has
/// latencies on every level, else by the inverse bandwidth, which gives the same order of levels.
PairCost pair_cost(CostModel model, Cost cost, double hops, Cost min_cost) {
  switch (model) {
    case CostModel::bytes:
      return {cost.inverse_bandwidth, 0};
    case CostModel::time:
      return {cost.inverse_bandwidth, cost.latency};
    case CostModel::hopbytes:
      return {hops, 0};
    case CostModel::quality:
      return {min_cost.latency > 0 ? -1 / std::max(cost.latency, min_cost.latency)
                                   : -1 / std::max(cost.inverse_bandwidth, min_cost.inverse_bandwidth),
              0};
    case CostModel::congestion:
    case CostModel::predicted:
      break;
  }
  assert(false && "this model is not a sum over pairs");
  return {};
}

}  // namespace

GeneralDistance::GeneralDistance(const Topology& topology, CostModel model)
    : topology_(&topology), model_(model), min_cost_(topology.min_cost()) {}

PairCost GeneralDistance::operator()(Core p, Core q) const {
  if (model_ == CostModel::hopbytes) return {static_cast<double>(topology_->hops(p, q)), 0};
  return pair_cost(model_, topology_->cost(p, q), 0, min_cost_);
}

Distance make_distance(const Topology& topology, CostModel model) {
  const auto costs = topology.cost_by_bit();
  if (!costs) return GeneralDistance(topology, model);
  const auto hops = topology.hops_by_bit();
  const Cost min_cost = topology.min_cost();
  std::array<PairCost, 65> by_bit{};
  for (std::size_t bit = 0; bit <= 64; ++bit) by_bit[bit] = pair_cost(model, (*costs)[bit], hops[bit], min_cost);
  return TreeDistance(topology, by_bit);
}

}  // namespace rankloom
