// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the graph that is coarsened, cut and refined: vertices that stand for one or many ranks.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/array.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom::multilevel {

/// One direction of an edge. Weights are floats, sums over them doubles: the weights of
/// coarse graphs are off by a few parts in a million, which moves no decision that matters, and every placement is
/// judged by the true cost in the end.
struct Edge {
  std::uint32_t to;
  float weight;
};

/// A symmetric graph in compressed rows without loops. 8 bytes for each direction of an edge, 12 a vertex.
class WeightedGraph {
 public:
  WeightedGraph() : offsets_{0} {}
  WeightedGraph(Array<std::uint64_t> offsets, Array<Edge> edges, Array<std::uint32_t> sizes);

  std::uint32_t vertex_count() const { return static_cast<std::uint32_t>(offsets_.size() - 1); }
  std::uint64_t edge_count() const { return edges_.size(); }  ///< Both directions counted.
  std::span<const Edge> edges(std::uint32_t vertex) const {
    return {edges_.data() + offsets_[vertex], static_cast<std::size_t>(offsets_[vertex + 1] - offsets_[vertex])};
  }
  std::uint64_t offset(std::uint32_t vertex) const { return offsets_[vertex]; }
  /// How much room the vertex takes: the number of its ranks.
  std::uint32_t size(std::uint32_t vertex) const { return sizes_[vertex]; }
  std::uint64_t total_size() const { return total_size_; }
  /// The same graph whose vertices all take the same room.
  WeightedGraph with_unit_sizes() && {
    return {std::move(offsets_), std::move(edges_), Array<std::uint32_t>(sizes_.size(), 1)};
  }
  std::uint32_t largest() const { return largest_; }

 private:
  Array<std::uint64_t> offsets_;
  Array<Edge> edges_;
  Array<std::uint32_t> sizes_;
  std::uint64_t total_size_ = 0;
  std::uint32_t largest_ = 0;
};

/// The problem's traffic, both directions together: bytes, and under the model of time also messages, as so many bytes
/// as take as long from one end of the machine to the other. `sizes`: of each rank; empty: all 1. Parallel; O(edges).
WeightedGraph weighted_graph(const MapProblem& problem, std::span<const std::uint32_t> sizes = {});

/// Every vertex belongs to the coarse vertex coarse_of[v]; coarse vertices are numbered 0..coarse_count-1. Parallel.
WeightedGraph contracted(const WeightedGraph& graph, std::span<const std::uint32_t> coarse_of,
                         std::uint32_t coarse_count);

/// The vertices of one part, numbered in their order, without the edges that leave it.
struct Subgraph {
  WeightedGraph graph;
  std::vector<std::uint32_t> original;  ///< Of each vertex, its number in the whole.
};
/// Two parts of a graph, by part_of (0 or 1).
std::pair<Subgraph, Subgraph> halves(const WeightedGraph& graph, std::span<const std::uint8_t> part_of);
/// All parts of a graph.
std::vector<Subgraph> split(const WeightedGraph& graph, std::span<const std::uint32_t> part_of, std::uint32_t parts);

}  // namespace rankloom::multilevel
