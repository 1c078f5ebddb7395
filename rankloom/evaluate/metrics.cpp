// SPDX-License-Identifier: Apache-2.0
// evaluate: metrics of a mapping.
#include "rankloom/evaluate/metrics.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/cost/loads.hpp"

namespace rankloom {

namespace {

/// Bytes and messages by divergence level; traffic within a core follows the last level. A path has 64 bits, so there
/// are at most 64 levels.
struct TrafficByLevel {
  std::array<double, 65> bytes{};
  std::array<double, 65> messages{};

  TrafficByLevel& operator+=(const TrafficByLevel& other) {
    for (std::size_t level = 0; level < bytes.size(); ++level) {
      bytes[level] += other.bytes[level];
      messages[level] += other.messages[level];
    }
    return *this;
  }
};

TrafficByLevel traffic_by_level(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  const std::size_t same_core = topology.levels().size();
  return parallel_sum<TrafficByLevel>(graph.rank_count(), [&](std::size_t begin, std::size_t end) {
    TrafficByLevel sum;
    for (std::size_t at = begin; at < end; ++at) {
      const Rank rank{static_cast<std::uint32_t>(at)};
      const auto targets = graph.targets(rank);
      const auto bytes = graph.bytes(rank);
      const auto messages = graph.messages(rank);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        const Core from = core_of[at], to = core_of[index(targets[edge])];
        const std::size_t level = from == to ? same_core : topology.divergence_level(from, to);
        sum.bytes[level] += bytes[edge];
        sum.messages[level] += messages.empty() ? graph.default_messages() : messages[edge];
      }
    }
    return sum;
  });
}

std::string vertex_name(const Topology& topology, Vertex vertex) {
  const std::uint32_t nodes = topology.network().node_count();
  if (index(vertex) < nodes) return topology.node_name(Node{index(vertex)});
  return fmt::format("switch{}", index(vertex) - nodes);
}

constexpr std::size_t max_links = 10;

std::vector<LinkLoad> heaviest_links(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  const std::vector<double> loads = link_loads(graph, topology, core_of);
  std::vector<std::uint32_t> order;
  for (std::uint32_t link = 0; link < loads.size(); ++link) {
    if (loads[link] > 0) order.push_back(link);
  }
  const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
    return loads[a] != loads[b] ? loads[a] > loads[b] : a < b;
  };
  const auto end = order.begin() + static_cast<std::ptrdiff_t>(std::min(order.size(), max_links));
  std::partial_sort(order.begin(), end, order.end(), heavier);
  std::vector<LinkLoad> links;
  for (auto link = order.begin(); link != end; ++link) {
    const auto [from, to] = topology.network().endpoints(topology.network_link(Link{*link}));
    const auto rail = topology.rail_of(Link{*link});
    const std::string on_rail = rail ? fmt::format(" on rail {}", *rail) : "";
    links.push_back({Link{*link}, vertex_name(topology, from), vertex_name(topology, to) + on_rail, loads[*link]});
  }
  return links;
}

/// The distribution of ranks and loads over the cores.
void measure_balance(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of,
                     Metrics& metrics) {
  std::vector<std::uint32_t> ranks_on(topology.core_count());
  double total = 0;
  for (const Rank rank : graph.ranks()) {
    ++ranks_on[index(core_of[index(rank)])];
    total += graph.load(rank);
  }
  std::uint32_t usable = 0;
  std::uint32_t last_node = topology.node_count();
  for (const Core core : topology.cores()) {
    if (topology.capacity(core) > 0) ++usable;
    if (ranks_on[index(core)] == 0) continue;
    ++metrics.cores_used;
    metrics.max_ranks_per_core = std::max(metrics.max_ranks_per_core, ranks_on[index(core)]);
    const std::uint32_t node = index(topology.node_of(core));  // cores are sorted by node
    if (node != last_node) ++metrics.nodes_used;
    last_node = node;
  }
  // With fewer ranks than cores, some cores are idle in every mapping and do not count for the balance.
  const double busy_cores = std::min(usable, graph.rank_count());
  metrics.load = load_balance(graph, topology, core_of);
  if (total > 0 && busy_cores > 0) metrics.load_imbalance = metrics.load.heaviest_core / (total / busy_cores) - 1;
}

}  // namespace

std::vector<LevelTraffic> level_traffic(const CommGraph& graph, const Topology& topology,
                                        std::span<const Core> core_of) {
  const TrafficByLevel sum = traffic_by_level(graph, topology, core_of);
  std::vector<LevelTraffic> levels;
  for (const auto& level : topology.levels()) levels.push_back({level.kind, 0, 0});
  levels.push_back({"same core", 0, 0});
  for (std::size_t level = 0; level < levels.size(); ++level) {
    levels[level].bytes = sum.bytes[level];
    levels[level].messages = sum.messages[level];
  }
  return levels;
}

Metrics measure(const CommGraph& graph, const Topology& topology, std::span<const Core> core_of) {
  Metrics metrics;
  double hop_bytes = 0;
  for (const CostModelInfo& row : cost_models()) {
    if (row.model == CostModel::predicted) continue;  // a time
    const double value = evaluate(graph, topology, core_of, row.model);
    metrics.costs.emplace_back(row.model, value);
    if (row.model == CostModel::hopbytes) hop_bytes = value;
  }
  metrics.levels = level_traffic(graph, topology, core_of);
  const double bytes = graph.total_bytes();
  if (bytes > 0) metrics.average_hops = hop_bytes / bytes;
  metrics.heaviest_links = heaviest_links(graph, topology, core_of);
  measure_balance(graph, topology, core_of, metrics);
  return metrics;
}

}  // namespace rankloom
