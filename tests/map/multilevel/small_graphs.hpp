// SPDX-License-Identifier: Apache-2.0
// tests/map/multilevel: small graphs from lists of edges, and reference implementations of cuts and block weights.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel::testing {

/// Both directions of an edge.
struct UndirectedEdge {
  std::uint32_t a, b;
  float weight = 1;
};

/// Without vertex weights, every vertex has weight 1.
inline WeightedGraph graph_of(std::uint32_t vertices, std::span<const UndirectedEdge> edge_list,
                              std::span<const std::uint32_t> vertex_weights = {}) {
  std::vector<std::vector<Edge>> rows(vertices);
  for (const UndirectedEdge& edge : edge_list) {
    rows[edge.a].push_back({edge.b, edge.weight});
    rows[edge.b].push_back({edge.a, edge.weight});
  }
  RowOffsets offsets(vertices, 2 * edge_list.size());
  Array<Edge> edges;
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) {
    edges.insert(edges.end(), rows[vertex].begin(), rows[vertex].end());
    offsets.set_degree(vertex, rows[vertex].size());
  }
  offsets.add_up();
  return {std::move(offsets), std::move(edges), Array<std::uint32_t>(vertex_weights.begin(), vertex_weights.end())};
}

/// Integral weights from 1 to 9, so that sums are exact.
inline std::vector<UndirectedEdge> random_edges(std::uint32_t vertices, double degree, std::uint64_t seed) {
  Random random(seed, vertices);
  std::vector<UndirectedEdge> edge_list;
  if (degree >= vertices) degree = vertices - 1.0;
  const double density = degree / (vertices - 1.0);
  for (std::uint32_t a = 0; a < vertices; ++a) {
    for (std::uint32_t b = a + 1; b < vertices; ++b) {
      if (random.unit() < density) edge_list.push_back({a, b, static_cast<float>(1 + random.below(9))});
    }
  }
  return edge_list;
}

inline WeightedGraph random_weighted(std::uint32_t vertices, double degree, std::uint64_t seed) {
  return graph_of(vertices, random_edges(vertices, degree, seed));
}

inline WeightedGraph square(std::uint32_t side) {
  std::vector<UndirectedEdge> edge_list;
  for (std::uint32_t at = 0; at < side * side; ++at) {
    if (at % side + 1 < side) edge_list.push_back({at, at + 1});
    if (at + side < side * side) edge_list.push_back({at, at + side});
  }
  return graph_of(side * side, edge_list);
}

/// Adds a clique of the vertices from `first` on.
inline void add_clique(std::vector<UndirectedEdge>& edge_list, std::uint32_t first, std::uint32_t size,
                       float weight = 1) {
  for (std::uint32_t a = first; a < first + size; ++a) {
    for (std::uint32_t b = a + 1; b < first + size; ++b) edge_list.push_back({a, b, weight});
  }
}

inline std::vector<std::uint32_t> random_partition(std::uint32_t vertices, std::uint32_t blocks, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> block_of(vertices);
  for (std::uint32_t& block : block_of) block = static_cast<std::uint32_t>(random.below(blocks));
  return block_of;
}

/// Blocks of equal size with random vertices.
inline std::vector<std::uint32_t> balanced_partition(std::uint32_t vertices, std::uint32_t blocks, std::uint64_t seed) {
  std::vector<std::uint32_t> block_of(vertices);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) block_of[vertex] = vertex % blocks;
  Random(seed).shuffle(std::span(block_of));
  return block_of;
}

/// The sum of weight x distance(block, block) over the edges, each once.
template <class Blocks, class BlockDistance>
double cost_of(const WeightedGraph& graph, const Blocks& block_of, const BlockDistance& distance) {
  double cost = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    for (const Edge edge : graph.edges(vertex)) {
      if (vertex < edge.to) cost += edge.weight * distance(block_of[vertex], block_of[edge.to]);
    }
  }
  return cost;
}

template <class Blocks>
double cut_of(const WeightedGraph& graph, const Blocks& block_of) {
  return cost_of(graph, block_of, [](auto p, auto q) { return p == q ? 0.0 : 1.0; });
}

template <class Blocks>
std::vector<std::uint64_t> block_weights_of(const WeightedGraph& graph, const Blocks& block_of, std::size_t blocks) {
  std::vector<std::uint64_t> block_weight(blocks, 0);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
    block_weight[block_of[vertex]] += graph.vertex_weight(vertex);
  return block_weight;
}

/// The vertex weight above the maximum block weights.
template <class Blocks>
std::uint64_t overload_of(const WeightedGraph& graph, const Blocks& block_of,
                          std::span<const std::uint64_t> max_block_weight) {
  const auto block_weight = block_weights_of(graph, block_of, max_block_weight.size());
  std::uint64_t overload = 0;
  for (std::size_t block = 0; block < max_block_weight.size(); ++block) {
    overload += block_weight[block] > max_block_weight[block] ? block_weight[block] - max_block_weight[block] : 0;
  }
  return overload;
}

}  // namespace rankloom::multilevel::testing
