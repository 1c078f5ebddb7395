// SPDX-License-Identifier: Apache-2.0
// map/multilevel: numbering for the caches.
#include "rankloom/map/multilevel/locality.hpp"

#include <limits>

#include "rankloom/core/parallel.hpp"

namespace rankloom::multilevel {
namespace {

/// Smaller graphs fit into the caches in any order.
constexpr std::uint32_t worth_it = 1U << 15;

/// Whether neighbours have near numbers already, by a sample of the vertices.
bool is_local(const WeightedGraph& graph) {
  const std::uint32_t step = std::max(1U, graph.vertex_count() / 4096);
  std::uint64_t edges = 0;
  std::uint64_t far = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); vertex += step) {
    for (const Edge edge : graph.edges(vertex)) {
      const std::uint32_t apart = edge.to > vertex ? edge.to - vertex : vertex - edge.to;
      far += apart > graph.vertex_count() / 32 ? 1 : 0;
      ++edges;
    }
  }
  return far * 8 < edges;
}

}  // namespace

std::vector<std::uint32_t> local_order(const WeightedGraph& graph) {
  const std::uint32_t count = graph.vertex_count();
  if (count < worth_it || is_local(graph)) return {};
  std::vector<std::uint32_t> order;
  order.reserve(count);
  std::vector<std::uint8_t> met(count, 0);
  for (std::uint32_t start = 0; start < count; ++start) {
    if (met[start] != 0) continue;
    met[start] = 1;
    order.push_back(start);
    for (std::size_t at = order.size() - 1; at < order.size(); ++at) {
      for (const Edge edge : graph.edges(order[at])) {
        if (met[edge.to] != 0) continue;
        met[edge.to] = 1;
        order.push_back(edge.to);
      }
    }
  }
  return order;
}

WeightedGraph reordered(const WeightedGraph& graph, std::span<const std::uint32_t> order) {
  const std::uint32_t count = graph.vertex_count();
  Array<std::uint32_t> number(count);
  Array<std::uint64_t> offsets(count + std::size_t{1});
  Array<std::uint32_t> sizes(count);
  offsets[0] = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    number[order[at]] = at;
    sizes[at] = graph.size(order[at]);
    offsets[at + std::size_t{1}] = offsets[at] + graph.edges(order[at]).size();
  }
  Array<Edge> edges(graph.edge_count());
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      std::uint64_t to = offsets[at];
      for (const Edge edge : graph.edges(order[at])) edges[to++] = {number[edge.to], edge.weight};
    }
  });
  return {std::move(offsets), std::move(edges), std::move(sizes)};
}

}  // namespace rankloom::multilevel
