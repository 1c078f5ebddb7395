// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: contraction: which coarse graph a matching, or any other grouping of the vertices, makes.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <oneapi/tbb/enumerable_thread_specific.h>

#include "rankloom/map/multilevel/coarsening/heavy_edge_matching.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// Adds up the edges of one coarse vertex after another. Without branches: no processor predicts which neighbours two
/// vertices have in common.
class CoarseRow {
 public:
  explicit CoarseRow(std::uint32_t coarse_count) : position_(coarse_count, not_in_row), row_(1) {}

  void begin(std::uint32_t coarse, std::size_t max_edges) {
    if (row_.size() <= max_edges) row_.resize(2 * max_edges + 1);
    coarse_ = coarse;
    position_[coarse] = loops;
    end_ = loops + 1;
  }

  void add(std::uint32_t to, float weight) {
    const std::uint32_t position = position_[to];
    const bool is_new = position == not_in_row;
    const std::uint32_t at = is_new ? end_ : position;
    position_[to] = at;
    row_[at] = {to, (is_new ? 0 : row_[at].weight) + weight};
    end_ += is_new ? 1 : 0;
  }

  /// The edges in the order in which their ends were added. Valid until the next row begins.
  std::span<const Edge> finish() {
    const auto edges = std::span<const Edge>(row_).subspan(loops + 1, end_ - loops - 1);
    for (const Edge edge : edges) position_[edge.to] = not_in_row;
    position_[coarse_] = not_in_row;
    return edges;
  }

 private:
  static constexpr std::uint32_t not_in_row = std::numeric_limits<std::uint32_t>::max();
  static constexpr std::uint32_t loops = 0;  // where edges within the coarse vertex are added up
  Array<std::uint32_t> position_;            // of each coarse neighbour in the row
  std::vector<Edge> row_;
  std::uint32_t coarse_ = 0, end_ = 0;
};

/// Merges all vertices v with the same coarse_of[v] into one coarse vertex; coarse vertices are numbered
/// 0..coarse_count-1. Weights and pulls are added up. Parallel.
WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count);

/// The one or two vertices of each coarse vertex. 8 bytes per coarse vertex.
class MatchedPairs {
 public:
  explicit MatchedPairs(const Matching& matching);
  std::uint32_t count() const { return static_cast<std::uint32_t>(pairs_.size()); }
  std::span<const std::uint32_t> operator[](std::size_t coarse) const {
    const auto& pair = pairs_[coarse];
    return std::span(pair).first(pair[0] == pair[1] ? 1 : 2);
  }

 private:
  Array<std::array<std::uint32_t, 2>> pairs_;
};

/// The same for a matching.
WeightedGraph contract(const WeightedGraph& graph, const Matching& matching);

/// The graph that contracting a matching makes, without its edges in memory: a row is added up whenever it is visited.
/// The graph and the matching must outlive the object.
class ContractionView {
 public:
  ContractionView(const WeightedGraph& graph, const Matching& matching);

  std::uint32_t vertex_count() const { return pairs_.count(); }
  std::uint32_t vertex_weight(std::uint32_t vertex) const {
    return vertex_weights_.empty() ? static_cast<std::uint32_t>(pairs_[vertex].size()) : vertex_weights_[vertex];
  }
  std::uint32_t max_vertex_weight() const { return max_vertex_weight_; }
  /// Valid until the next call in the same thread.
  std::span<const Edge> edges(std::uint32_t vertex) const;
  /// At least the number of edges.
  std::size_t max_degree(std::uint32_t vertex) const;

 private:
  const WeightedGraph& graph_;
  const Matching& matching_;
  MatchedPairs pairs_;
  Array<std::uint32_t> vertex_weights_;  // empty if those of the graph are 1
  std::uint32_t max_vertex_weight_ = 0;
  mutable oneapi::tbb::enumerable_thread_specific<CoarseRow> rows_;
};

/// The contraction of a contraction.
WeightedGraph contract(const ContractionView& graph, const Matching& matching);

}  // namespace rankloom::multilevel
