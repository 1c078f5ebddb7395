// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the graph that is coarsened, partitioned and refined. A vertex stands for one rank or many.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/map/multilevel/graph_rows.hpp"

namespace rankloom::multilevel {

/// A symmetric graph in compressed sparse rows without loops. 8 bytes for each direction of an edge, 4 if all edges
/// have the same weight; 4 per vertex, and 4 more if vertices have weights.
class WeightedGraph {
 public:
  WeightedGraph() = default;
  /// Without vertex weights, each vertex has weight 1.
  WeightedGraph(RowOffsets offsets, Array<Edge> edges, Array<std::uint32_t> vertex_weights = {});
  /// All edges have this weight.
  WeightedGraph(RowOffsets offsets, Array<std::uint32_t> ends, float edge_weight,
                Array<std::uint32_t> vertex_weights = {});

  std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(offsets_.row_count()); }
  std::uint64_t edge_count() const { return offsets_.edge_count(); }  ///< Both directions counted.
  EdgeRange edges(std::uint32_t vertex) const {
    const std::uint64_t begin = offsets_[vertex];
    const auto size = static_cast<std::size_t>(offsets_[vertex + std::size_t{1}] - begin);
    return ends_.empty() ? EdgeRange(edges_.data() + begin, size)
                         : EdgeRange(ends_.data() + begin, &edge_weight_, size);
  }
  /// Whether the weight of all edges is stored once.
  bool has_uniform_edges() const { return !ends_.empty(); }
  /// What the vertex adds to the weight of its block: the number of its ranks, or their load in units.
  std::uint32_t vertex_weight(std::uint32_t vertex) const {
    return vertex_weights_.empty() ? 1 : vertex_weights_[vertex];
  }
  bool has_vertex_weights() const { return !vertex_weights_.empty(); }
  std::uint64_t total_vertex_weight() const { return total_vertex_weight_; }
  std::uint32_t max_vertex_weight() const { return max_vertex_weight_; }
  /// For bisections: how strongly fixed vertices outside of the graph pull the vertex to side 1; negative: to side 0.
  float pull(std::uint32_t vertex) const { return pulls_.empty() ? 0.0F : pulls_[vertex]; }
  bool has_pulls() const { return !pulls_.empty(); }
  void set_pulls(Array<float> pulls) { pulls_ = std::move(pulls); }
  /// The same graph with all vertex weights set to 1, without pulls.
  WeightedGraph with_unit_vertex_weights() &&;

 private:
  void add_up_vertex_weights();

  RowOffsets offsets_;
  Array<Edge> edges_;
  Array<std::uint32_t> ends_;  // instead of edges_ if all have the same weight
  float edge_weight_ = 0;
  std::uint32_t max_vertex_weight_ = 0;
  std::uint64_t total_vertex_weight_ = 0;
  Array<std::uint32_t> vertex_weights_;  // empty: 1
  Array<float> pulls_;                   // by vertex; empty: 0
};

/// The subgraph that a set of vertices induces: its vertices in their order, without the edges that leave the set and
/// without pulls.
struct Subgraph {
  WeightedGraph graph;
  std::vector<std::uint32_t> original;  ///< The number of each vertex in the graph that the subgraph comes from.
};

/// The vertices of each block of a partition, in ascending order. 8 bytes per vertex.
class BlockMembers {
 public:
  BlockMembers(std::span<const std::uint32_t> block_of, std::uint32_t block_count);

  std::span<const std::uint32_t> operator[](std::size_t block) const {
    return std::span<const std::uint32_t>(members_).subspan(begins_[block], begins_[block + 1] - begins_[block]);
  }
  /// The subgraph of the partitioned graph that a block induces. Parallel.
  WeightedGraph subgraph(const WeightedGraph& graph, std::size_t block) const;

 private:
  template <class Entry, class EntryOf>
  GraphRows<Entry> rows_inside(const WeightedGraph& graph, std::size_t block, const EntryOf& entry_of) const;

  std::vector<std::uint32_t> begins_;        // of each block in members_; at the end, the number of vertices
  Array<std::uint32_t> members_, position_;  // position_: of each vertex in members_
};

/// The subgraphs of the two sides of a bipartition (side_of is 0 or 1).
std::pair<Subgraph, Subgraph> side_subgraphs(const WeightedGraph& graph, std::span<const std::uint8_t> side_of);

}  // namespace rankloom::multilevel
