// SPDX-License-Identifier: Apache-2.0
// place/joint: the time of jobs on sets of nodes without a mapper. The Slurm plugin links this file, but no mappers.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "rankloom/model/machine/network/network_shapes.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "rankloom/place/joint/traffic_mapper.hpp"

namespace rankloom {

namespace {

constexpr std::size_t max_kept_slots = std::size_t{16} << 20;

/// For the estimates of one decision, about 15 ms.
constexpr double max_steps = 3e6;

}  // namespace

TrafficMapper::TrafficMapper(const Topology& topology, Platform platform, ConfiguredMapper mapper)
    : topology_(topology),
      platform_(std::move(platform)),
      mapper_(std::move(mapper)),
      is_block_(mapper_.info != nullptr && mapper_.info->name == "block"),
      slots_of_node_(topology.node_count()) {
  for (const Core core : topology.cores()) {
    auto& slots = slots_of_node_[index(topology.node_of(core))];
    slots.insert(slots.end(), topology.capacity(core), core);
  }
}

Result<TrafficMapper> TrafficMapper::create_without_mapper(const Topology& topology) {
  auto platform = Platform::of(topology);
  if (!platform) return propagate(platform);
  return TrafficMapper(topology, std::move(*platform), ConfiguredMapper{nullptr, {}, nullptr});
}

std::string TrafficMapper::key_of(const JobTraffic& job, const NodeSet& set) {
  return fmt::format("{:x} {} {}", job.id, job.graph.rank_count(), set.key);
}

std::vector<Core> TrafficMapper::block(std::uint32_t ranks, std::span<const Node> nodes) const {
  std::vector<Core> result;
  result.reserve(ranks);
  for (const Node node : nodes) {
    const auto& slots = slots_of_node_[index(node)];
    const std::size_t count = std::min<std::size_t>(slots.size(), ranks - result.size());
    result.insert(result.end(), slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(count));
  }
  assert(result.size() == ranks);
  return result;
}

void TrafficMapper::keep_better(const CommGraph& graph, std::vector<Core> core_of, Placed& best) const {
  const double seconds = predict(graph, platform_, core_of).seconds;
  if (seconds < best.seconds) best = {std::move(core_of), seconds};
}

/// The ranks along the nodes: the best of several orders, by the prediction for the real machine.
TrafficMapper::Placed TrafficMapper::in_best_order(const JobTraffic& job, const NodeSet& set, std::size_t max_orders,
                                                   const Deadline& deadline) const {
  const std::uint32_t ranks = job.graph.rank_count();
  Placed best{block(ranks, set.nodes), 0};
  best.seconds = predict(job.graph, platform_, best.core_of).seconds;
  if (set.nodes.size() == 1) return best;
  std::size_t tried = 1;
  const auto try_order = [&](const auto& order) {
    if (tried == max_orders || deadline.passed()) return;
    ++tried;
    keep_better(job.graph, order(), best);
  };
  if (!set.extents.empty()) {
    try_order([&] { return block(ranks, bisection_order(set)); });
    try_order([&] { return block(ranks, snake_order(set)); });
  }
  return best;
}

/// Of one prediction for the job on this many nodes, about: every pair of ranks, the links of its route, and all
/// channels of the machine.
double TrafficMapper::steps(const JobTraffic& job, std::size_t nodes) const {
  constexpr double steps_of_pair = 20;
  double links = 4;
  if (const auto* const mesh = std::get_if<MeshShape>(&topology_.network().shape())) {
    const auto dimensions = static_cast<double>(mesh->sizes.size());
    links = dimensions / 2 * std::pow(static_cast<double>(nodes), 1 / dimensions);
  }
  return (steps_of_pair + links) * static_cast<double>(job.graph.edge_count()) +
         static_cast<double>(platform_.channel_count());
}

std::size_t TrafficMapper::affordable_sets(const JobTraffic& job, std::size_t nodes) const {
  const double sets = max_steps / (steps(job, nodes) * static_cast<double>(affordable_orders(job, nodes)));
  return static_cast<std::size_t>(std::clamp(sets, 2.0, 1e6));
}

/// So many that several sets can be compared.
std::size_t TrafficMapper::affordable_orders(const JobTraffic& job, std::size_t nodes) const {
  return static_cast<std::size_t>(std::clamp(max_steps / 6 / steps(job, nodes), 1.0, 1.0 * all_orders));
}

/// Begins again if too much is kept.
void TrafficMapper::count_kept(std::size_t slots) {
  kept_slots_ += slots;
  if (kept_slots_ <= max_kept_slots) return;
  mapped_.clear();
  estimates_.clear();
  kept_slots_ = slots;
}

double TrafficMapper::estimate(const JobTraffic& job, std::span<const Node> nodes, const Deadline& deadline) {
  if (is_block_) return predict(job.graph, platform_, block(job.graph.rank_count(), nodes)).seconds;
  const NodeSet set = canonical_node_set(topology_.network(), nodes);
  std::string key = key_of(job, set);
  if (const auto found = estimates_.find(key); found != estimates_.end()) {
    ++reused_;
    return found->second;
  }
  ++computed_;
  count_kept(1 + key.size() / sizeof(SlotInSet));
  const double seconds = in_best_order(job, set, affordable_orders(job, nodes.size()), deadline).seconds;
  if (!deadline.passed()) estimates_.emplace(std::move(key), seconds);
  return seconds;
}

std::vector<Core> TrafficMapper::place_in_order(const JobTraffic& job, std::span<const Node> nodes,
                                                const Deadline& deadline) const {
  Placed best = in_best_order(job, canonical_node_set(topology_.network(), nodes), all_orders, deadline);
  keep_better(job.graph, block(job.graph.rank_count(), nodes), best);
  return best.core_of;
}

}  // namespace rankloom
