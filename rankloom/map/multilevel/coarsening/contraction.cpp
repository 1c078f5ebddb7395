// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: contraction.
#include "rankloom/map/multilevel/coarsening/contraction.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/timing.hpp"

namespace rankloom::multilevel {
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

std::size_t max_degree(const WeightedGraph& graph, std::uint32_t vertex) {
  return graph.edges(vertex).size();
}
std::size_t max_degree(const ContractionView& graph, std::uint32_t vertex) {
  return graph.max_degree(vertex);
}

/// members[coarse] are the vertices of a coarse vertex.
template <class Graph, class Members>
WeightedGraph contract_groups(const Graph& graph, std::span<const std::uint32_t> coarse_of, std::uint32_t coarse_count,
                              const Members& members) {
  const TimedSection timing("contraction");
  Array<std::uint32_t> vertex_weights(coarse_count);
  const auto max_edges = parallel_sum<std::uint64_t>(graph.vertex_count(), [&](std::size_t begin, std::size_t end) {
    std::uint64_t edges = 0;
    for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) edges += max_degree(graph, vertex);
    return edges;
  });
  oneapi::tbb::enumerable_thread_specific<CoarseRow> coarse_rows([&] { return CoarseRow(coarse_count); });
  auto rows =
      rows_by_chunks<Edge>(coarse_count, max_edges,
                           [&](std::size_t begin, std::size_t end, Array<Edge>& coarse_edges, const auto& set_degree) {
                             CoarseRow& row = coarse_rows.local();
                             for (auto coarse = static_cast<std::uint32_t>(begin); coarse < end; ++coarse) {
                               std::size_t max_row_edges = 0;
                               std::uint32_t vertex_weight = 0;
                               for (const std::uint32_t vertex : members[coarse]) {
                                 max_row_edges += max_degree(graph, vertex);
                                 vertex_weight += graph.vertex_weight(vertex);
                               }
                               row.begin(coarse, max_row_edges);
                               for (const std::uint32_t vertex : members[coarse]) {
                                 for (const Edge edge : graph.edges(vertex)) row.add(coarse_of[edge.to], edge.weight);
                               }
                               const auto edges = row.finish();
                               coarse_edges.insert(coarse_edges.end(), edges.begin(), edges.end());
                               vertex_weights[coarse] = vertex_weight;
                               set_degree(coarse, edges.size());
                             }
                           });
  return {std::move(rows.offsets), std::move(rows.entries), std::move(vertex_weights)};
}

void add_up_pulls(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of, WeightedGraph& coarse_graph) {
  if (!graph.has_pulls()) return;
  Array<float> pulls(coarse_graph.vertex_count(), 0);
  for (std::uint32_t vertex = 0; vertex < graph.vertex_count(); ++vertex)
    pulls[coarse_of[vertex]] += graph.pull(vertex);
  coarse_graph.set_pulls(std::move(pulls));
}

}  // namespace

WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count) {
  WeightedGraph coarse_graph = contract_groups(graph, coarse_of, coarse_count, CoarseMembers(coarse_of, coarse_count));
  add_up_pulls(graph, coarse_of, coarse_graph);
  return coarse_graph;
}

WeightedGraph contract(const WeightedGraph& graph, const Matching& matching) {
  WeightedGraph coarse_graph =
      contract_groups(graph, matching.coarse_of, matching.coarse_count, MatchedPairs(matching));
  add_up_pulls(graph, matching.coarse_of, coarse_graph);
  return coarse_graph;
}

WeightedGraph contract(const ContractionView& graph, const Matching& matching) {
  return contract_groups(graph, matching.coarse_of, matching.coarse_count, MatchedPairs(matching));
}

MatchedPairs::MatchedPairs(const Matching& matching) : pairs_(matching.coarse_count) {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  const auto& coarse_of = matching.coarse_of;
  parallel_chunks(pairs_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t coarse = begin; coarse < end; ++coarse) pairs_[coarse][1] = none;
  });
  // Coarse vertices are numbered in the order of their first vertices: those of a chunk begin where the chunks before
  // it ended.
  std::vector<std::uint32_t> next(coarse_of.size() / default_chunk + std::size_t{2}, 0);
  parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
    next[begin / default_chunk + 1] = 1 + *std::max_element(coarse_of.begin() + static_cast<std::ptrdiff_t>(begin),
                                                            coarse_of.begin() + static_cast<std::ptrdiff_t>(end));
  });
  std::partial_sum(next.begin(), next.end(), next.begin(),
                   [](std::uint32_t a, std::uint32_t b) { return std::max(a, b); });
  parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
    std::uint32_t number = next[begin / default_chunk];
    for (auto vertex = static_cast<std::uint32_t>(begin); vertex < end; ++vertex) {
      const bool is_first = coarse_of[vertex] == number;
      pairs_[coarse_of[vertex]][is_first ? 0 : 1] = vertex;
      number += is_first ? 1 : 0;
    }
  });
  parallel_chunks(pairs_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t coarse = begin; coarse < end; ++coarse) {
      auto& [first, second] = pairs_[coarse];
      if (second == none) second = first;
    }
  });
}

ContractionView::ContractionView(const WeightedGraph& graph, const Matching& matching)
    : graph_(graph),
      matching_(matching),
      pairs_(matching),
      vertex_weights_(graph.has_vertex_weights() ? matching.coarse_count : 0),
      rows_([count = matching.coarse_count] { return CoarseRow(count); }) {
  if (!graph.has_vertex_weights()) max_vertex_weight_ = vertex_count() < graph.vertex_count() ? 2 : 1;
  parallel_chunks(vertex_weights_.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t vertex = begin; vertex < end; ++vertex) {
      vertex_weights_[vertex] = 0;
      for (const std::uint32_t member : pairs_[vertex]) vertex_weights_[vertex] += graph.vertex_weight(member);
    }
  });
  for (const std::uint32_t weight : vertex_weights_) max_vertex_weight_ = std::max(max_vertex_weight_, weight);
}

std::size_t ContractionView::max_degree(std::uint32_t vertex) const {
  std::size_t degree = 0;
  for (const std::uint32_t member : pairs_[vertex]) degree += graph_.edges(member).size();
  return degree;
}

std::span<const Edge> ContractionView::edges(std::uint32_t vertex) const {
  CoarseRow& row = rows_.local();
  row.begin(vertex, max_degree(vertex));
  for (const std::uint32_t member : pairs_[vertex]) {
    for (const Edge edge : graph_.edges(member)) row.add(matching_.coarse_of[edge.to], edge.weight);
  }
  return row.finish();
}

}  // namespace rankloom::multilevel
