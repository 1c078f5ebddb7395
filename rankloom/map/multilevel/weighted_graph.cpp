// SPDX-License-Identifier: Apache-2.0
// map/multilevel: construction, contraction, subgraphs and renumbering of weighted graphs.
#include "rankloom/map/multilevel/weighted_graph.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

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

/// The fine vertices of each coarse vertex in ascending order, one coarse vertex after another.
struct CoarseMembers {
  Array<std::uint64_t> ends;
  Array<std::uint32_t> fine;

  CoarseMembers(std::span<const std::uint32_t> coarse_of, std::uint32_t coarse_count)
      : ends(coarse_count + std::size_t{1}, 0), fine(coarse_of.size()) {
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) take_next(ends[coarse_of[vertex] + std::size_t{1}]);
    });
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    Array<std::uint64_t> next(ends.begin(), ends.end() - 1);
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex)
        fine[take_next(next[coarse_of[vertex]])] = static_cast<std::uint32_t>(vertex);
    });
    parallel_chunks(coarse_count, [&](std::size_t begin, std::size_t end) {
      for (std::size_t coarse = begin; coarse < end; ++coarse)
        std::sort(fine.data() + ends[coarse], fine.data() + ends[coarse + 1]);
    });
  }
  std::span<const std::uint32_t> operator[](std::size_t coarse) const {
    return {fine.data() + ends[coarse], static_cast<std::size_t>(ends[coarse + 1] - ends[coarse])};
  }

 private:
  static std::uint64_t take_next(std::uint64_t& number) {
    return std::atomic_ref(number).fetch_add(1, std::memory_order_relaxed);
  }
};

/// Compressed sparse rows.
struct Rows {
  Array<std::uint64_t> offsets;
  Array<Edge> edges;
};

/// Calls append(begin, end, edges, degrees) for chunks of the rows, in parallel: it appends the edges of these rows and
/// sets the degree of each.
template <class Append>
Rows rows_by_chunks(std::size_t count, const Append& append) {
  Rows rows{Array<std::uint64_t>(count + 1), {}};
  rows.offsets[0] = 0;
  std::vector<std::vector<Edge>> edges_of_chunk((count + default_chunk - 1) / default_chunk);
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    append(begin, end, edges_of_chunk[begin / default_chunk],
           std::span<std::uint64_t>(rows.offsets).subspan(begin + 1, end - begin));
  });
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  rows.edges.resize(rows.offsets.back());
  parallel_chunks(count, [&](std::size_t begin, std::size_t) {
    auto& edges = edges_of_chunk[begin / default_chunk];
    std::copy(edges.begin(), edges.end(), rows.edges.begin() + static_cast<std::ptrdiff_t>(rows.offsets[begin]));
    edges = {};
  });
  return rows;
}

}  // namespace

WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count) {
  const TimedSection timing("contraction");
  constexpr std::uint32_t not_in_row = std::numeric_limits<std::uint32_t>::max();
  const CoarseMembers members(coarse_of, coarse_count);
  Array<std::uint32_t> vertex_weights(coarse_count);
  oneapi::tbb::enumerable_thread_specific<std::vector<std::uint32_t>> positions(
      [&] { return std::vector<std::uint32_t>(coarse_count, not_in_row); });
  Rows rows = rows_by_chunks(coarse_count, [&](std::size_t begin, std::size_t end, std::vector<Edge>& coarse_edges,
                                               std::span<std::uint64_t> degrees) {
    auto& position = positions.local();  // of each coarse neighbour in the current row
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
      degrees[coarse - begin] = coarse_edges.size() - row;
    }
  });
  WeightedGraph coarse_graph(std::move(rows.offsets), std::move(rows.edges), std::move(vertex_weights));
  if (graph.has_pulls()) {
    Array<float> pulls(coarse_count, 0);
    for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
      pulls[coarse_of[vertex]] += graph.pull(vertex);
    coarse_graph.set_pulls(std::move(pulls));
  }
  return coarse_graph;
}

namespace {

/// The vertices of each block in ascending order, and the number of each vertex in its block.
struct BlockMembers {
  std::vector<std::vector<std::uint32_t>> of_block;
  Array<std::uint32_t> number;

  BlockMembers(std::span<const std::uint32_t> block_of, std::uint32_t block_count)
      : of_block(block_count), number(block_of.size()) {
    // So few chunks that their tables of all blocks take no more memory than the vertices.
    const std::size_t chunk = std::max<std::size_t>(default_chunk, block_count);
    std::vector<std::vector<std::uint32_t>> next((block_of.size() + chunk - 1) / chunk,
                                                 std::vector<std::uint32_t>(block_count, 0));
    parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) ++next[begin / chunk][block_of[vertex]];
    });
    for (std::uint32_t block = 0; block < block_count; ++block) {
      std::uint32_t size = 0;
      for (auto& first : next) size += std::exchange(first[block], size);
      of_block[block].resize(size);
    }
    parallel_chunks(block_of.size(), chunk, [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) {
        number[vertex] = next[begin / chunk][block_of[vertex]]++;
        of_block[block_of[vertex]][number[vertex]] = static_cast<std::uint32_t>(vertex);
      }
    });
  }
};

}  // namespace

std::vector<Subgraph> block_subgraphs(const WeightedGraph& graph, std::span<const std::uint32_t> block_of,
                                      std::uint32_t block_count) {
  const TimedSection timing("subgraphs");
  BlockMembers members(block_of, block_count);
  std::vector<Subgraph> subgraphs(block_count);
  parallel_chunks(block_count, 1, [&](std::size_t block, std::size_t) {
    auto& original = subgraphs[block].original;
    original = std::move(members.of_block[block]);
    Array<std::uint32_t> vertex_weights(original.size());
    Rows rows = rows_by_chunks(original.size(), [&](std::size_t begin, std::size_t end, std::vector<Edge>& edges,
                                                    std::span<std::uint64_t> degrees) {
      std::uint64_t max_edges = 0;
      for (std::size_t at = begin; at < end; ++at) max_edges += graph.edges(original[at]).size();
      edges.reserve(max_edges);
      for (std::size_t at = begin; at < end; ++at) {
        const std::size_t row = edges.size();
        for (const Edge edge : graph.edges(original[at])) {
          if (block_of[edge.to] == block) edges.push_back({members.number[edge.to], edge.weight});
        }
        degrees[at - begin] = edges.size() - row;
        vertex_weights[at] = graph.vertex_weight(original[at]);
      }
    });
    subgraphs[block].graph = {std::move(rows.offsets), std::move(rows.edges), std::move(vertex_weights)};
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

std::vector<std::uint32_t> bfs_order_alone(const WeightedGraph& graph) {
  const std::uint32_t count = graph.vertex_count();
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

/// The same order in parallel, one distance from the start after another: a vertex follows the first of its neighbours.
/// It visits more memory than one thread does alone.
class ParallelBreadthFirstSearch {
 public:
  explicit ParallelBreadthFirstSearch(const WeightedGraph& graph)
      : graph_(graph), first_neighbour_(graph.vertex_count(), none) {
    order_.reserve(graph.vertex_count());
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t start = 0; start < graph_.vertex_count(); ++start) {
      if (first_neighbour_[start] != none) continue;
      const auto position = static_cast<std::uint32_t>(order_.size());
      first_neighbour_[start] = position;
      order_.push_back(start);
      for (std::size_t begin = position; begin < order_.size();) {
        const std::size_t end = order_.size();
        visit_neighbours(begin, end);
        begin = end;
      }
    }
    return std::move(order_);
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::size_t chunk = 128;
  struct Reached {
    std::uint32_t vertex, neighbour;
  };

  /// Of the vertices at these positions.
  void visit_neighbours(std::size_t begin, std::size_t end) {
    const auto reached = parallel_collect<Reached>(
        end - begin,
        [&](std::size_t from, std::size_t to, std::vector<Reached>& found) {
          for (auto at = static_cast<std::uint32_t>(begin + from); at < begin + to; ++at) {
            for (const Edge edge : graph_.edges(order_[at]))
              if (lower(first_neighbour_[edge.to], at)) found.push_back({edge.to, at});
          }
        },
        chunk);
    for (const auto& [vertex, neighbour] : reached)
      if (first_neighbour_[vertex] == neighbour) order_.push_back(vertex);
  }

  /// Returns whether the number was larger.
  static bool lower(std::uint32_t& number, std::uint32_t to) {
    const std::atomic_ref shared(number);
    std::uint32_t now = shared.load(std::memory_order_relaxed);
    while (to < now)
      if (shared.compare_exchange_weak(now, to, std::memory_order_relaxed)) return true;
    return false;
  }

  const WeightedGraph& graph_;
  std::vector<std::uint32_t> first_neighbour_;  // its position in the order; the own position of a start
  std::vector<std::uint32_t> order_;
};

}  // namespace

std::vector<std::uint32_t> bfs_order(const WeightedGraph& graph) {
  const TimedSection timing("vertex order");
  const std::uint32_t count = graph.vertex_count();
  if (count < min_vertices_to_reorder || has_local_order(graph)) return {};
  return thread_count() == 1 ? bfs_order_alone(graph) : ParallelBreadthFirstSearch(graph).run();
}

WeightedGraph renumber(const WeightedGraph& graph, std::span<const std::uint32_t> order) {
  const TimedSection timing("vertex order");
  const std::uint32_t count = graph.vertex_count();
  Array<std::uint32_t> number(count);
  Array<std::uint64_t> offsets(count + std::size_t{1});
  Array<std::uint32_t> vertex_weights(count);
  offsets[0] = 0;
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      number[order[at]] = static_cast<std::uint32_t>(at);
      vertex_weights[at] = graph.vertex_weight(order[at]);
      offsets[at + 1] = graph.edges(order[at]).size();
    }
  });
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
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
