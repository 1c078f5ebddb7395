// SPDX-License-Identifier: Apache-2.0
// evaluate: the traffic of a placement by message size and distance.
#include "rankloom/evaluate/size_distance.hpp"

#include <algorithm>
#include <cmath>

#include "rankloom/core/parallel.hpp"

namespace rankloom {

namespace {

constexpr std::uint32_t max_hops = SizesAtDistance::max_hops;
constexpr std::size_t size_classes = SizesAtDistance::size_classes;
constexpr std::size_t ranks_per_chunk = 1U << 15U;  // a sum takes 30 KiB

/// Bytes by distance and size class. Distances: hops from the most on, levels, the same core.
struct Bytes {
  std::vector<double> bytes;

  Bytes& operator+=(const Bytes& other) {
    bytes.resize(std::max(bytes.size(), other.bytes.size()));
    for (std::size_t at = 0; at < other.bytes.size(); ++at) bytes[at] += other.bytes[at];
    return *this;
  }
};

std::size_t size_class(double mean_size) {
  if (!(mean_size >= 2)) return 0;
  return std::min(static_cast<std::size_t>(std::ilogb(mean_size)), size_classes - 1);
}

std::size_t distance_class(const Topology& topology, Core from, Core to) {
  if (from == to) return max_hops + topology.levels().size();
  const std::size_t level = topology.divergence_level(from, to);
  if (!topology.routed() || level > topology.node_level()) return max_hops + level;
  const std::uint32_t hops = topology.network().hops(topology.node_of(from), topology.node_of(to));
  return max_hops - std::clamp<std::uint32_t>(hops, 1, max_hops);
}

}  // namespace

std::vector<SizesAtDistance> sizes_by_distance(const CommGraph& graph, const Topology& topology,
                                               std::span<const Core> core_of) {
  if (!graph.has_messages()) return {};
  const std::size_t distances = max_hops + topology.levels().size() + 1;
  const auto add_rows = [&](std::size_t begin, std::size_t end) {
    Bytes sum{std::vector<double>(distances * size_classes)};
    for (std::size_t at = begin; at < end; ++at) {
      const Rank rank{static_cast<std::uint32_t>(at)};
      const auto targets = graph.targets(rank);
      const auto bytes = graph.bytes(rank);
      const auto messages = graph.messages(rank);
      for (std::size_t edge = 0; edge < targets.size(); ++edge) {
        const std::size_t distance = distance_class(topology, core_of[at], core_of[index(targets[edge])]);
        const double mean_size = messages[edge] > 0 ? bytes[edge] / messages[edge] : 0;
        sum.bytes[distance * size_classes + size_class(mean_size)] += bytes[edge];
      }
    }
    return sum;
  };
  const Bytes total = parallel_sum<Bytes>(graph.rank_count(), add_rows, ranks_per_chunk);
  std::vector<SizesAtDistance> rows;
  for (std::size_t distance = 0; distance < distances && !total.bytes.empty(); ++distance) {
    const auto begin = total.bytes.begin() + static_cast<std::ptrdiff_t>(distance * size_classes);
    SizesAtDistance row{.bytes = std::vector<double>(begin, begin + size_classes)};
    if (std::all_of(row.bytes.begin(), row.bytes.end(), [](double bytes) { return bytes == 0; })) continue;
    if (distance < max_hops) {
      row.hops = max_hops - static_cast<std::uint32_t>(distance);
    } else {
      row.level = distance - max_hops;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace rankloom
