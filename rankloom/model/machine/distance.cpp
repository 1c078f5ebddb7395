// SPDX-License-Identifier: Apache-2.0
// model: the factors of a pair's cost under each model that is a sum over pairs.
#include "rankloom/model/machine/distance.hpp"

#include <algorithm>
#include <cassert>

namespace rankloom {

namespace {

/// One pair under one model, smaller is better. Two ranks on one core: nothing to send in bytes, time and hopbytes; for
/// quality they are as near as the nearest pair of cores. Quality divides by latencies where the topology knows them
/// for every level, else by gaps, which rank the levels alike.
PairCost pair_cost(CostModel model, Cost cost, double hops, Cost least) {
  switch (model) {
    case CostModel::bytes:
      return {cost.gap, 0};
    case CostModel::time:
      return {cost.gap, cost.latency};
    case CostModel::hopbytes:
      return {hops, 0};
    case CostModel::quality:
      return {least.latency > 0 ? -1 / std::max(cost.latency, least.latency) : -1 / std::max(cost.gap, least.gap), 0};
    case CostModel::congestion:
      break;
  }
  assert(false && "congestion is no sum over pairs");
  return {};
}

}  // namespace

AnyDistance::AnyDistance(const Topology& topology, CostModel model)
    : topology_(&topology), model_(model), least_(topology.least_cost()) {}

PairCost AnyDistance::operator()(Core p, Core q) const {
  if (model_ == CostModel::hopbytes) return {static_cast<double>(topology_->hops(p, q)), 0};
  return pair_cost(model_, topology_->cost(p, q), 0, least_);
}

Distance make_distance(const Topology& topology, CostModel model) {
  const auto costs = topology.cost_by_bit();
  if (!costs) return AnyDistance(topology, model);
  const auto hops = topology.hops_by_bit();
  const Cost least = topology.least_cost();
  std::array<PairCost, 65> by_bit{};
  for (std::size_t bit = 0; bit <= 64; ++bit) by_bit[bit] = pair_cost(model, (*costs)[bit], hops[bit], least);
  return TreeDistance(topology, by_bit);
}

}  // namespace rankloom
