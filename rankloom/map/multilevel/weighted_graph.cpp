// SPDX-License-Identifier: Apache-2.0
// map/multilevel: construction, contraction, subgraphs and renumbering of weighted graphs.
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {

WeightedGraph::WeightedGraph(Array<std::uint64_t> offsets, Array<Edge> edges, Array<std::uint32_t> vertex_weights)
    : offsets_(std::move(offsets)), edges_(std::move(edges)), vertex_weights_(std::move(vertex_weights)) {
  for (const std::uint32_t weight : vertex_weights_) {
    total_vertex_weight_ += weight;
    max_vertex_weight_ = std::max(max_vertex_weight_, weight);
  }
}

namespace {

/// The traffic under the cost model `time`: a message counts as the bytes that take as long over the longest distance.
CommGraph messages_as_bytes(const CommGraph& graph, Cost longest) {
  CommGraph::Rows rows = graph.rows();
  const double byte = longest.inverse_bandwidth > 0 ? 1 : 0;
  const double message = longest.inverse_bandwidth > 0 ? longest.latency / longest.inverse_bandwidth : 1;
  parallel_chunks(rows.bytes.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t edge = begin; edge < end; ++edge) {
      const double messages = graph.has_messages() ? rows.messages[edge] : graph.default_messages();
      rows.bytes[edge] = byte * rows.bytes[edge] + message * messages;
    }
  });
  return CommGraph(std::move(rows));
}

Affinity affinity_of(const MapProblem& problem) {
  const std::uint32_t cores = problem.topology.core_count();
  const Cost longest = cores < 2 ? Cost{} : problem.topology.cost(Core{0}, Core{cores - 1});
  if (problem.model != CostModel::time || longest.latency == 0) return Affinity(problem.graph);
  return Affinity(messages_as_bytes(problem.graph, longest));
}

/// A power of two that scales the weights so that sums and squares of floats stay finite. It changes no comparison, and
/// is 1 for all amounts of traffic that occur.
double weight_scale(std::span<const double> weights) {
  constexpr int max_exponent = 50;
  double max_weight = 1;
  for (const double weight : weights) max_weight = std::max(max_weight, weight);
  const int exponent = std::ilogb(max_weight);
  return exponent > max_exponent ? std::ldexp(1.0, max_exponent - exponent) : 1.0;
}

}  // namespace

WeightedGraph weighted_graph(const MapProblem& problem, std::span<const std::uint32_t> rank_weights) {
  const TimedSection timing("weighted graph");
  const Affinity affinity = affinity_of(problem);
  Array<std::uint64_t> offsets(affinity.offsets().begin(), affinity.offsets().end());
  Array<Edge> edges(affinity.edge_count());
  Array<std::uint32_t> vertex_weights(affinity.size());
  const double scale = weight_scale(affinity.all_weights());
  parallel_chunks(affinity.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t vertex = begin; vertex < end; ++vertex) {
      vertex_weights[vertex] = rank_weights.empty() ? 1 : rank_weights[vertex];
      for (std::uint64_t edge = offsets[vertex]; edge < offsets[vertex + 1]; ++edge) {
        edges[edge] = {affinity.all_neighbours()[edge], static_cast<float>(scale * affinity.all_weights()[edge])};
      }
    }
  });
  return {std::move(offsets), std::move(edges), std::move(vertex_weights)};
}

namespace {

/// The fine vertices of each coarse vertex, one coarse vertex after another.
struct CoarseMembers {
  Array<std::uint64_t> ends;
  Array<std::uint32_t> fine;

  CoarseMembers(std::span<const std::uint32_t> coarse_of, std::uint32_t coarse_count)
      : ends(coarse_count + std::size_t{1}, 0), fine(coarse_of.size()) {
    for (const std::uint32_t coarse : coarse_of) ++ends[coarse + std::size_t{1}];
    for (std::size_t at = 1; at < ends.size(); ++at) ends[at] += ends[at - 1];
    Array<std::uint64_t> next(ends.begin(), ends.end() - 1);
    for (std::uint32_t vertex = 0; vertex < coarse_of.size(); ++vertex) fine[next[coarse_of[vertex]]++] = vertex;
  }
  std::span<const std::uint32_t> operator[](std::size_t coarse) const {
    return {fine.data() + ends[coarse], static_cast<std::size_t>(ends[coarse + 1] - ends[coarse])};
  }
};

}  // namespace

WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count) {
  const TimedSection timing("contraction");
  constexpr std::uint32_t not_in_row = std::numeric_limits<std::uint32_t>::max();
  const CoarseMembers members(coarse_of, coarse_count);
  Array<std::uint64_t> offsets(coarse_count + std::size_t{1}, 0);
  Array<std::uint32_t> vertex_weights(coarse_count);
  const std::size_t chunks = (coarse_count + default_chunk - 1) / default_chunk;
  std::vector<std::vector<Edge>> edges_of_chunk(chunks);
  oneapi::tbb::enumerable_thread_specific<std::vector<std::uint32_t>> positions(
      [&] { return std::vector<std::uint32_t>(coarse_count, not_in_row); });
  parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t end) {
    auto& position = positions.local();  // of each coarse neighbour in the current row
    auto& coarse_edges = edges_of_chunk[begin / default_chunk];
    std::uint64_t max_edges = 0;
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      for (const std::uint32_t vertex : members[coarse]) max_edges += graph.edges(vertex).size();
    }
    coarse_edges.reserve(max_edges);
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      const std::size_t row = coarse_edges.size();
      std::uint32_t vertex_weight = 0;
      for (const std::uint32_t vertex : members[coarse]) {
        vertex_weight += graph.vertex_weight(vertex);
        for (const Edge edge : graph.edges(vertex)) {
          const std::uint32_t to = coarse_of[edge.to];
          if (to == coarse) continue;
          if (position[to] == not_in_row) {
            position[to] = static_cast<std::uint32_t>(coarse_edges.size() - row);
            coarse_edges.push_back({to, edge.weight});
          } else {
            coarse_edges[row + position[to]].weight += edge.weight;
          }
        }
      }
      for (std::size_t edge = row; edge < coarse_edges.size(); ++edge) position[coarse_edges[edge].to] = not_in_row;
      vertex_weights[coarse] = vertex_weight;
      offsets[coarse + 1] = coarse_edges.size() - row;
    }
  });
  for (std::size_t at = 1; at < offsets.size(); ++at) offsets[at] += offsets[at - 1];
  Array<Edge> edges(offsets.back());
  parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t) {
    auto& coarse_edges = edges_of_chunk[begin / default_chunk];
    std::copy(coarse_edges.begin(), coarse_edges.end(), edges.begin() + static_cast<std::ptrdiff_t>(offsets[begin]));
    coarse_edges = {};
  });
  WeightedGraph coarse_graph(std::move(offsets), std::move(edges), std::move(vertex_weights));
  if (graph.has_pulls()) {
    Array<float> pulls(coarse_count, 0);
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
      pulls[coarse_of[vertex]] += graph.pull(vertex);
    coarse_graph.set_pulls(std::move(pulls));
  }
  return coarse_graph;
}

std::vector<Subgraph> block_subgraphs(const WeightedGraph& graph, std::span<const std::uint32_t> block_of,
                                      std::uint32_t block_count) {
  const TimedSection timing("subgraphs");
  std::vector<std::uint32_t> number(graph.vertex_count());
  std::vector<Subgraph> subgraphs(block_count);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex) {
    auto& original = subgraphs[block_of[vertex]].original;
    number[vertex] = static_cast<std::uint32_t>(original.size());
    original.push_back(vertex);
  }
  parallel_chunks(block_count, 1, [&](std::size_t block, std::size_t) {
    const auto& original = subgraphs[block].original;
    Array<std::uint64_t> offsets(original.size() + 1);
    Array<std::uint32_t> vertex_weights(original.size());
    Array<Edge> edges;
    std::uint64_t max_edges = 0;
    for (const std::uint32_t vertex : original) max_edges += graph.edges(vertex).size();
    edges.reserve(max_edges);
    offsets[0] = 0;
    for (std::size_t at = 0; at < original.size(); ++at) {
      for (const Edge edge : graph.edges(original[at])) {
        if (block_of[edge.to] == block) edges.push_back({number[edge.to], edge.weight});
      }
      offsets[at + 1] = edges.size();
      vertex_weights[at] = graph.vertex_weight(original[at]);
    }
    subgraphs[block].graph = {std::move(offsets), std::move(edges), std::move(vertex_weights)};
  });
  return subgraphs;
}

std::pair<Subgraph, Subgraph> side_subgraphs(const WeightedGraph& graph, std::span<const std::uint8_t> side_of) {
  const std::vector<std::uint32_t> block_of(side_of.begin(), side_of.end());
  auto sides = block_subgraphs(graph, block_of, 2);
  return {std::move(sides[0]), std::move(sides[1])};
}

namespace {

/// Smaller graphs fit into the caches in any order.
constexpr std::uint32_t min_vertices_to_reorder = 1U << 15;

/// Whether most neighbours have close numbers already, estimated from a sample of the vertices.
bool has_local_order(const WeightedGraph& graph) {
  const std::uint32_t stride = std::max(1U, graph.vertex_count() / 4096);
  std::uint64_t edges = 0;
  std::uint64_t long_edges = 0;
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); vertex += stride) {
    for (const Edge edge : graph.edges(vertex)) {
      const std::uint32_t span = edge.to > vertex ? edge.to - vertex : vertex - edge.to;
      long_edges += span > graph.vertex_count() / 32 ? 1 : 0;
      ++edges;
    }
  }
  return long_edges * 8 < edges;
}

}  // namespace

std::vector<std::uint32_t> bfs_order(const WeightedGraph& graph) {
  const TimedSection timing("vertex order");
  const std::uint32_t count = graph.vertex_count();
  if (count < min_vertices_to_reorder || has_local_order(graph)) return {};
  std::vector<std::uint32_t> order;
  order.reserve(count);
  std::vector<std::uint8_t> visited(count, 0);
  for (std::uint32_t start = 0; start < count; ++start) {
    if (visited[start] != 0) continue;
    visited[start] = 1;
    order.push_back(start);
    for (std::size_t at = order.size() - 1; at < order.size(); ++at) {
      for (const Edge edge : graph.edges(order[at])) {
        if (visited[edge.to] != 0) continue;
        visited[edge.to] = 1;
        order.push_back(edge.to);
      }
    }
  }
  return order;
}

WeightedGraph renumber(const WeightedGraph& graph, std::span<const std::uint32_t> order) {
  const TimedSection timing("vertex order");
  const std::uint32_t count = graph.vertex_count();
  Array<std::uint32_t> number(count);
  Array<std::uint64_t> offsets(count + std::size_t{1});
  Array<std::uint32_t> vertex_weights(count);
  offsets[0] = 0;
  for (std::uint32_t at = 0; at < count; ++at) {
    number[order[at]] = at;
    vertex_weights[at] = graph.vertex_weight(order[at]);
    offsets[at + std::size_t{1}] = offsets[at] + graph.edges(order[at]).size();
  }
  Array<Edge> edges(graph.edge_count());
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      std::uint64_t next = offsets[at];
      for (const Edge edge : graph.edges(order[at])) edges[next++] = {number[edge.to], edge.weight};
    }
  });
  return {std::move(offsets), std::move(edges), std::move(vertex_weights)};
}

}  // namespace rankloom::multilevel
