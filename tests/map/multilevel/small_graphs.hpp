// SPDX-License-Identifier: Apache-2.0
// tests/map/multilevel: graphs by their lines, and plain sums over them.
#pragma once

#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel::testing {

/// Both directions of an edge.
struct Line {
  std::uint32_t a, b;
  float weight = 1;
};

/// Without sizes every vertex takes one place.
inline WeightedGraph graph_of(std::uint32_t vertices, std::span<const Line> lines,
                              std::span<const std::uint32_t> sizes = {}) {
  std::vector<std::vector<Edge>> rows(vertices);
  for (const Line& line : lines) {
    rows[line.a].push_back({line.b, line.weight});
    rows[line.b].push_back({line.a, line.weight});
  }
  Array<std::uint64_t> offsets(1, 0);
  Array<Edge> edges;
  for (const auto& row : rows) {
    edges.insert(edges.end(), row.begin(), row.end());
    offsets.push_back(edges.size());
  }
  Array<std::uint32_t> room(sizes.begin(), sizes.end());
  if (sizes.empty()) room.assign(vertices, 1);
  return {std::move(offsets), std::move(edges), std::move(room)};
}

/// Whole weights from 1 to 9, so that sums are exact.
inline std::vector<Line> random_lines(std::uint32_t vertices, double degree, std::uint64_t seed) {
  Random random(seed, vertices);
  std::vector<Line> lines;
  if (degree >= vertices) degree = vertices - 1.0;
  const double density = degree / (vertices - 1.0);
  for (std::uint32_t a = 0; a < vertices; ++a) {
    for (std::uint32_t b = a + 1; b < vertices; ++b) {
      if (random.unit() < density) lines.push_back({a, b, static_cast<float>(1 + random.below(9))});
    }
  }
  return lines;
}

inline WeightedGraph random_weighted(std::uint32_t vertices, double degree, std::uint64_t seed) {
  return graph_of(vertices, random_lines(vertices, degree, seed));
}

inline WeightedGraph square(std::uint32_t side) {
  std::vector<Line> lines;
  for (std::uint32_t at = 0; at < side * side; ++at) {
    if (at % side + 1 < side) lines.push_back({at, at + 1});
    if (at + side < side * side) lines.push_back({at, at + side});
  }
  return graph_of(side * side, lines);
}

/// Everyone with everyone, from `first` on.
inline void add_clique(std::vector<Line>& lines, std::uint32_t first, std::uint32_t size, float weight = 1) {
  for (std::uint32_t a = first; a < first + size; ++a) {
    for (std::uint32_t b = a + 1; b < first + size; ++b) lines.push_back({a, b, weight});
  }
}

inline std::vector<std::uint32_t> random_parts(std::uint32_t vertices, std::uint32_t parts, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> part_of(vertices);
  for (std::uint32_t& part : part_of) part = static_cast<std::uint32_t>(random.below(parts));
  return part_of;
}

/// Equal parts in a random order.
inline std::vector<std::uint32_t> even_parts(std::uint32_t vertices, std::uint32_t parts, std::uint64_t seed) {
  std::vector<std::uint32_t> part_of(vertices);
  for (std::uint32_t vertex = 0; vertex < vertices; ++vertex) part_of[vertex] = vertex % parts;
  Random(seed).shuffle(std::span(part_of));
  return part_of;
}

/// Weight x far(part, part) over the edges, each once.
template <class Parts, class Far>
double cost_of(const WeightedGraph& graph, const Parts& part_of, const Far& far) {
  double cost = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    for (const Edge edge : graph.edges(vertex)) {
      if (vertex < edge.to) cost += edge.weight * far(part_of[vertex], part_of[edge.to]);
    }
  }
  return cost;
}

template <class Parts>
double cut_of(const WeightedGraph& graph, const Parts& part_of) {
  return cost_of(graph, part_of, [](auto p, auto q) { return p == q ? 0.0 : 1.0; });
}

template <class Parts>
std::vector<std::uint64_t> held_by(const WeightedGraph& graph, const Parts& part_of, std::size_t parts) {
  std::vector<std::uint64_t> held(parts, 0);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) held[part_of[vertex]] += graph.size(vertex);
  return held;
}

/// What does not fit.
template <class Parts>
std::uint64_t overload_of(const WeightedGraph& graph, const Parts& part_of, std::span<const std::uint64_t> room) {
  const auto held = held_by(graph, part_of, room.size());
  std::uint64_t over = 0;
  for (std::size_t part = 0; part < room.size(); ++part) over += held[part] > room[part] ? held[part] - room[part] : 0;
  return over;
}

}  // namespace rankloom::multilevel::testing
