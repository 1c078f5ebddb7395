// SPDX-License-Identifier: Apache-2.0
// model/machine: the distance functors of the cost models that are sums over pairs.
#include "rankloom/model/machine/distance.hpp"

#include <algorithm>
#include <cassert>

#include "rankloom/model/machine/network/network_shapes.hpp"

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

std::optional<InsideNodes> InsideNodes::of(const Topology& topology, CostModel model) {
  if (topology.is_matrix() || !topology.routed() || model == CostModel::quality || topology.node_level() != 0)
    return std::nullopt;
  InsideNodes result;
  result.paths_ = topology.paths().data();
  for (std::size_t bit = 64; bit >= 1; --bit) {
    const std::size_t level = topology.level_of_bit(bit);
    if (level == 0) {
      result.first_node_bit_ = bit;
    } else if (const auto& cost = topology.levels()[level].cost) {
      result.inside_[bit] = pair_cost(model, *cost, 0, {});
    } else if (!topology.levels()[level].is_private()) {
      return std::nullopt;
    }
  }
  return result;
}

std::optional<MeshDistance> MeshDistance::of(const Topology& topology, CostModel model) {
  constexpr std::uint32_t max_size = 1U << 15;
  const auto inside = InsideNodes::of(topology, model);
  if (!inside) return std::nullopt;
  const auto* const mesh = std::get_if<MeshShape>(&topology.network().shape());
  if (mesh == nullptr || mesh->sizes.size() > max_dimensions ||
      std::any_of(mesh->sizes.begin(), mesh->sizes.end(), [](std::uint32_t size) { return size > max_size; })) {
    return std::nullopt;
  }
  MeshDistance result(*inside);
  result.per_hop_ = pair_cost(model, topology.network().per_hop(), 1, {});
  result.dimensions_ = mesh->sizes.size();
  for (std::size_t dimension = 0; dimension < result.dimensions_; ++dimension) {
    const auto size = static_cast<int>(mesh->sizes[dimension]);
    result.wrap_[dimension] = mesh->torus ? size : 2 * size;
  }
  const std::shared_ptr<std::uint16_t[]> coordinates(new std::uint16_t[topology.core_count() * result.dimensions_]);
  for (const Core core : topology.cores()) {
    std::uint32_t node = index(topology.node_of(core));
    for (std::size_t dimension = result.dimensions_; dimension-- > 0; node /= mesh->sizes[dimension])
      coordinates[index(core) * result.dimensions_ + dimension] =
          static_cast<std::uint16_t>(node % mesh->sizes[dimension]);
  }
  result.coordinates_ = coordinates;
  return result;
}

GeneralDistance::GeneralDistance(const Topology& topology, CostModel model)
    : topology_(&topology), model_(model), min_cost_(topology.min_cost()) {
  const auto inside = InsideNodes::of(topology, model);
  if (!inside || topology.rail_count() > 0 || graph_shape(topology.network()) != nullptr) return;
  Nodes nodes{*inside, &topology.network(), {}, pair_cost(model, topology.network().per_hop(), 1, {})};
  nodes.of_core.reserve(topology.core_count());
  for (const Core core : topology.cores()) nodes.of_core.push_back(topology.node_of(core));
  nodes_ = std::make_shared<const Nodes>(std::move(nodes));
}

PairCost GeneralDistance::of_topology(Core p, Core q) const {
  if (model_ == CostModel::hopbytes) return {static_cast<double>(topology_->hops(p, q)), 0};
  return pair_cost(model_, topology_->cost(p, q), 0, min_cost_);
}

Distance make_distance(const Topology& topology, CostModel model) {
  const auto costs = topology.cost_by_bit();
  if (!costs) {
    if (auto on_mesh = MeshDistance::of(topology, model)) return *std::move(on_mesh);
    return GeneralDistance(topology, model);
  }
  const auto hops = topology.hops_by_bit();
  const Cost min_cost = topology.min_cost();
  std::array<PairCost, 65> by_bit{};
  for (std::size_t bit = 0; bit <= 64; ++bit) by_bit[bit] = pair_cost(model, (*costs)[bit], hops[bit], min_cost);
  return TreeDistance(topology, by_bit);
}

}  // namespace rankloom
