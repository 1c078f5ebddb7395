// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the graph that is coarsened, partitioned and refined. A vertex stands for one rank or many.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/core/array.hpp"

namespace rankloom::multilevel {

/// One direction of an edge. Edge weights are floats, sums over them doubles: the weights of coarse graphs are off by a
/// few parts in a million, which does not change a decision that matters, and the final placement is evaluated by the
/// exact cost.
struct Edge {
  std::uint32_t to;
  float weight;
};

/// A symmetric graph in compressed sparse rows without loops. 8 bytes for each direction of an edge, 12 per vertex.
class WeightedGraph {
 public:
  WeightedGraph() : offsets_{0} {}
  WeightedGraph(Array<std::uint64_t> offsets, Array<Edge> edges, Array<std::uint32_t> vertex_weights);

  std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  std::uint64_t edge_count() const { return edges_.size(); }  ///< Both directions counted.
  std::span<const Edge> edges(std::uint32_t vertex) const {
    return {edges_.data() + offsets_[vertex], static_cast<std::size_t>(offsets_[vertex + 1] - offsets_[vertex])};
  }
  std::uint64_t offset(std::uint32_t vertex) const { return offsets_[vertex]; }
  /// What the vertex adds to the weight of its block: the number of its ranks, or their load in units.
  std::uint32_t vertex_weight(std::uint32_t vertex) const { return vertex_weights_[vertex]; }
  std::uint64_t total_vertex_weight() const { return total_vertex_weight_; }
  std::uint32_t max_vertex_weight() const { return max_vertex_weight_; }
  /// For bisections: how strongly fixed vertices outside of the graph pull the vertex to side 1; negative: to side 0.
  float pull(std::uint32_t vertex) const { return pulls_.empty() ? 0.0F : pulls_[vertex]; }
  bool has_pulls() const { return !pulls_.empty(); }
  void set_pulls(Array<float> pulls) { pulls_ = std::move(pulls); }
  /// The same graph with all vertex weights set to 1, without pulls.
  WeightedGraph with_unit_vertex_weights() && {
    return {std::move(offsets_), std::move(edges_), Array<std::uint32_t>(vertex_weights_.size(), 1)};
  }

 private:
  Array<std::uint64_t> offsets_;
  Array<Edge> edges_;
  Array<std::uint32_t> vertex_weights_;
  Array<float> pulls_;  // by vertex; empty: 0
  std::uint64_t total_vertex_weight_ = 0;
  std::uint32_t max_vertex_weight_ = 0;
};

/// Merges all vertices v with the same coarse_of[v] into one coarse vertex; coarse vertices are numbered
/// 0..coarse_count-1. Weights and pulls are added up. Parallel.
WeightedGraph contract(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                       std::uint32_t coarse_count);

/// The subgraph that a set of vertices induces: its vertices in their order, without the edges that leave the set and
/// without pulls.
struct Subgraph {
  WeightedGraph graph;
  std::vector<std::uint32_t> original;  ///< The number of each vertex in the graph that the subgraph comes from.
};
/// The subgraphs of all blocks of a partition. Parallel.
std::vector<Subgraph> block_subgraphs(const WeightedGraph& graph, std::span<const std::uint32_t> block_of,
                                      std::uint32_t block_count);
/// The subgraphs of the two sides of a bipartition (side_of is 0 or 1).
std::pair<Subgraph, Subgraph> side_subgraphs(const WeightedGraph& graph, std::span<const std::uint8_t> side_of);

}  // namespace rankloom::multilevel
