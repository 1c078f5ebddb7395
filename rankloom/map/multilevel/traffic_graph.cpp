// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the weighted graph of a problem, with vertices in an order that suits the caches.
#include "rankloom/map/multilevel/traffic_graph.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {
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

/// The traffic under the cost model of the problem. May be a view of `converted`.
const CommGraph& traffic_of(const MapProblem& problem, std::optional<CommGraph>& converted) {
  const std::uint32_t cores = problem.topology.core_count();
  const Cost longest = cores < 2 ? Cost{} : problem.topology.cost(Core{0}, Core{cores - 1});
  if (problem.model != CostModel::time || longest.latency == 0) return problem.graph;
  return converted.emplace(messages_as_bytes(problem.graph, longest));
}

/// Larger weights are scaled by a power of two, so that sums and squares of floats stay finite.
constexpr int max_exponent = 50;

/// This power of two changes no comparison, and is 1 for all amounts of traffic that occur.
double weight_scale(std::span<const double> weights) {
  double max_weight = 1;
  for (const double weight : weights) max_weight = std::max(max_weight, weight);
  const int exponent = std::ilogb(max_weight);
  return exponent > max_exponent ? std::ldexp(1.0, max_exponent - exponent) : 1.0;
}

/// Empty: all 1.
Array<std::uint32_t> vertex_weights_of(std::span<const std::uint32_t> rank_weights,
                                       std::span<const std::uint32_t> order) {
  Array<std::uint32_t> weights(rank_weights.size());
  for (std::size_t vertex = 0; vertex < weights.size(); ++vertex)
    weights[vertex] = rank_weights[order.empty() ? vertex : order[vertex]];
  return weights;
}

/// If each edge of the traffic has a reverse edge, and all have usual weights: the graph in which vertex i is rank
/// order[i]. The rows of neighbours are read together, which in a good order are in the caches.
class SymmetricTraffic {
 public:
  SymmetricTraffic(const CommGraph& traffic, std::span<const std::uint32_t> order)
      : traffic_(traffic),
        order_(order),
        number_(order.empty() ? 0 : traffic.rank_count()),
        offsets_(traffic.rank_count(), traffic.edge_count()) {
    parallel_chunks(traffic.rank_count(), [&](std::size_t begin, std::size_t end) {
      for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
        const Rank rank = rank_of(vertex);
        if (!order.empty()) number_[index(rank)] = vertex;
        offsets_.set_degree(vertex, traffic.targets(rank).size());
      }
    });
    offsets_.add_up();
  }

  std::optional<WeightedGraph> graph(std::span<const std::uint32_t> rank_weights) && {
    if (has_uniform_bytes()) {
      ends_.resize(traffic_.edge_count());
    } else {
      edges_.resize(traffic_.edge_count());
    }
    const std::uint32_t ranks = traffic_.rank_count();
    const auto paired =
        parallel_sum<Paired>(ranks, [&](std::size_t begin, std::size_t end) { return pair_edges(begin, end); });
    if (!paired.all || 2 * paired.count != traffic_.edge_count()) return std::nullopt;
    auto vertex_weights = vertex_weights_of(rank_weights, order_);
    if (ends_.empty()) return WeightedGraph(std::move(offsets_), std::move(edges_), std::move(vertex_weights));
    const auto weight = static_cast<float>(2 * traffic_.rows().bytes.front());
    return WeightedGraph(std::move(offsets_), std::move(ends_), weight, std::move(vertex_weights));
  }

 private:
  struct Paired {
    std::uint64_t count = 0;
    bool all = true;
    Paired& operator+=(const Paired& other) {
      count += other.count;
      all &= other.all;
      return *this;
    }
  };

  bool has_uniform_bytes() const {
    const auto& bytes = traffic_.rows().bytes;
    return parallel_sum<std::uint64_t>(bytes.size(), [&](std::size_t begin, std::size_t end) {
             std::uint64_t others = 0;
             for (std::size_t edge = begin; edge < end; ++edge) others += bytes[edge] != bytes[0] ? 1 : 0;
             return others;
           }) == 0;
  }

  void set(std::uint64_t position, Edge edge) {
    if (ends_.empty()) {
      edges_[position] = edge;
    } else {
      ends_[position] = edge.to;
    }
  }

  Rank rank_of(std::uint32_t vertex) const { return Rank{order_.empty() ? vertex : order_[vertex]}; }
  std::uint32_t vertex_of(Rank rank) const { return order_.empty() ? index(rank) : number_[index(rank)]; }

  /// The position of a target in an ascending row; the size if it is not there.
  static std::size_t position(std::span<const Rank> row, Rank target) {
    constexpr std::size_t short_row = 32;
    const auto found = row.size() <= short_row ? std::find(row.begin(), row.end(), target)
                                               : std::lower_bound(row.begin(), row.end(), target);
    return found != row.end() && *found == target ? static_cast<std::size_t>(found - row.begin()) : row.size();
  }

  /// Writes both directions of the edges from these vertices to vertices with higher numbers.
  Paired pair_edges(std::size_t begin, std::size_t end) {
    Paired paired;
    for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
      const Rank rank = rank_of(vertex);
      const auto targets = traffic_.targets(rank);
      const auto sent = traffic_.bytes(rank);
      for (std::size_t at = 0; at < targets.size(); ++at) {
        const std::uint32_t neighbour = vertex_of(targets[at]);
        if (neighbour < vertex) continue;
        const auto row = traffic_.targets(targets[at]);
        const std::size_t reverse = position(row, rank);
        const double bytes = reverse < row.size() ? sent[at] + traffic_.bytes(targets[at])[reverse] : 0;
        if (neighbour == vertex || !(bytes > 0 && bytes < std::ldexp(1.0, max_exponent))) return {0, false};
        set(offsets_[vertex] + at, {neighbour, static_cast<float>(bytes)});
        set(offsets_[neighbour] + reverse, {vertex, static_cast<float>(bytes)});
        ++paired.count;
      }
    }
    return paired;
  }

  const CommGraph& traffic_;
  std::span<const std::uint32_t> order_;
  Array<std::uint32_t> number_;  // of each rank in the order
  RowOffsets offsets_;
  Array<Edge> edges_;
  Array<std::uint32_t> ends_;  // instead if all edges have the same weight
};

std::optional<WeightedGraph> graph_in_order(const CommGraph& traffic, std::span<const std::uint32_t> rank_weights,
                                            std::span<const std::uint32_t> order) {
  const TimedSection timing("weighted graph");
  return SymmetricTraffic(traffic, order).graph(rank_weights);
}

/// Of any traffic, in the order of the ranks.
WeightedGraph merged_graph(const CommGraph& traffic, std::span<const std::uint32_t> rank_weights) {
  const TimedSection timing("weighted graph");
  const Affinity affinity(traffic);
  Array<Edge> edges(affinity.edge_count());
  const double scale = weight_scale(affinity.all_weights());
  parallel_chunks(edges.size(), std::size_t{1} << 16, [&](std::size_t begin, std::size_t end) {
    for (std::size_t edge = begin; edge < end; ++edge)
      edges[edge] = {affinity.all_neighbours()[edge], static_cast<float>(scale * affinity.all_weights()[edge])};
  });
  RowOffsets offsets(affinity.size(), affinity.edge_count());
  for (std::uint32_t rank = 0; rank < affinity.size(); ++rank)
    offsets.set_degree(rank, affinity.offsets()[rank + std::size_t{1}] - affinity.offsets()[rank]);
  offsets.add_up();
  return {std::move(offsets), std::move(edges), vertex_weights_of(rank_weights, {})};
}

/// Smaller graphs fit into the caches in any order.
constexpr std::uint32_t min_vertices_to_reorder = 1U << 15;

std::uint32_t vertex_count(const WeightedGraph& graph) {
  return graph.vertex_count();
}
std::uint32_t vertex_count(const CommGraph& traffic) {
  return traffic.rank_count();
}

template <class Visit>
void visit_neighbours(const WeightedGraph& graph, std::uint32_t vertex, const Visit& visit) {
  for (const Edge edge : graph.edges(vertex)) visit(edge.to);
}
template <class Visit>
void visit_neighbours(const CommGraph& traffic, std::uint32_t vertex, const Visit& visit) {
  for (const Rank target : traffic.targets(Rank{vertex})) visit(index(target));
}

/// Whether most neighbours have close numbers already, estimated from a sample of the vertices.
template <class Graph>
bool has_local_order(const Graph& graph) {
  const std::uint32_t count = vertex_count(graph);
  const std::uint32_t stride = std::max(1U, count / 4096);
  std::uint64_t edges = 0;
  std::uint64_t long_edges = 0;
  for (std::uint32_t vertex = 0; vertex < count; vertex += stride) {
    visit_neighbours(graph, vertex, [&](std::uint32_t to) {
      const std::uint32_t span = to > vertex ? to - vertex : vertex - to;
      long_edges += span > count / 32 ? 1 : 0;
      ++edges;
    });
  }
  return long_edges * 8 < edges;
}

template <class Graph>
std::vector<std::uint32_t> bfs_order_alone(const Graph& graph) {
  const std::uint32_t count = vertex_count(graph);
  std::vector<std::uint32_t> order;
  order.reserve(count);
  std::vector<std::uint8_t> visited(count, 0);
  for (std::uint32_t start = 0; start < count; ++start) {
    if (visited[start] != 0) continue;
    visited[start] = 1;
    order.push_back(start);
    for (std::size_t at = order.size() - 1; at < order.size(); ++at) {
      visit_neighbours(graph, order[at], [&](std::uint32_t to) {
        if (visited[to] != 0) return;
        visited[to] = 1;
        order.push_back(to);
      });
    }
  }
  return order;
}

/// The same order in parallel, one distance from the start after another: a vertex follows the first of its neighbours.
/// It visits more memory than one thread does alone.
template <class Graph>
class ParallelBreadthFirstSearch {
 public:
  explicit ParallelBreadthFirstSearch(const Graph& graph) : graph_(graph), first_neighbour_(vertex_count(graph), none) {
    order_.reserve(first_neighbour_.size());
  }

  std::vector<std::uint32_t> run() {
    for (std::uint32_t start = 0; start < first_neighbour_.size(); ++start) {
      if (first_neighbour_[start] != none) continue;
      const auto position = static_cast<std::uint32_t>(order_.size());
      first_neighbour_[start] = position;
      order_.push_back(start);
      for (std::size_t begin = position; begin < order_.size();) {
        const std::size_t end = order_.size();
        reach_neighbours(begin, end);
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
  void reach_neighbours(std::size_t begin, std::size_t end) {
    const auto reached = parallel_collect<Reached>(
        end - begin,
        [&](std::size_t from, std::size_t to, std::vector<Reached>& found) {
          for (auto at = static_cast<std::uint32_t>(begin + from); at < begin + to; ++at) {
            visit_neighbours(graph_, order_[at], [&](std::uint32_t neighbour) {
              if (lower(first_neighbour_[neighbour], at)) found.push_back({neighbour, at});
            });
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

  const Graph& graph_;
  std::vector<std::uint32_t> first_neighbour_;  // its position in the order; the own position of a start
  std::vector<std::uint32_t> order_;
};

/// Empty when the graph is small or its own order is good enough.
template <class Graph>
std::vector<std::uint32_t> useful_order(const Graph& graph) {
  const TimedSection timing("vertex order");
  if (vertex_count(graph) < min_vertices_to_reorder || has_local_order(graph)) return {};
  return thread_count() == 1 ? bfs_order_alone(graph) : ParallelBreadthFirstSearch(graph).run();
}

}  // namespace

WeightedGraph weighted_graph(const MapProblem& problem, std::span<const std::uint32_t> rank_weights) {
  std::optional<CommGraph> converted;
  const CommGraph& traffic = traffic_of(problem, converted);
  auto graph = graph_in_order(traffic, rank_weights, {});
  return graph ? std::move(*graph) : merged_graph(traffic, rank_weights);
}

OrderedGraph ordered_graph(const MapProblem& problem, std::span<const std::uint32_t> rank_weights) {
  std::optional<CommGraph> converted;
  const CommGraph& traffic = traffic_of(problem, converted);
  std::vector<std::uint32_t> order = useful_order(traffic);
  if (auto graph = graph_in_order(traffic, rank_weights, order)) return {std::move(*graph), std::move(order)};
  WeightedGraph graph = merged_graph(traffic, rank_weights);
  order = bfs_order(graph);
  if (!order.empty()) graph = renumber(graph, order);
  return {std::move(graph), std::move(order)};
}

std::vector<std::uint32_t> bfs_order(const WeightedGraph& graph) {
  return useful_order(graph);
}

WeightedGraph renumber(const WeightedGraph& graph, std::span<const std::uint32_t> order) {
  const TimedSection timing("vertex order");
  const std::uint32_t count = graph.vertex_count();
  Array<std::uint32_t> number(count);
  RowOffsets offsets(count, graph.edge_count());
  Array<std::uint32_t> vertex_weights(graph.has_vertex_weights() ? count : 0);
  parallel_chunks(count, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      number[order[at]] = static_cast<std::uint32_t>(at);
      if (graph.has_vertex_weights()) vertex_weights[at] = graph.vertex_weight(order[at]);
      offsets.set_degree(at, graph.edges(order[at]).size());
    }
  });
  offsets.add_up();
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
