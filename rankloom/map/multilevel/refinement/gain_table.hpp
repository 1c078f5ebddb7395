// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: the weight of the edges between a vertex and every block, kept up to date by k-way FM.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// A compact gain table, as in KaMinPar and Mt-KaHyPar, in floats like the edge weights: a move updates one entry per
/// neighbour and block, so that the gain of a neighbour is found without visiting its edges. Only vertices with at
/// least as many edges as there are blocks have a row, and only after they were evaluated, so the table is never larger
/// than the graph. Rows of other vertices would be longer than their edges.
class GainTable {
 public:
  /// The graph and the partition must outlive the object.
  GainTable(const WeightedGraph& graph, std::span<const std::uint32_t> block_of, std::uint32_t block_count)
      : graph_(graph),
        block_of_(block_of),
        block_count_(block_count),
        chunk_bits_(chunk_bits(graph.vertex_count(), block_count)) {}

  bool has_row(std::uint32_t vertex) const { return graph_.edges(vertex).size() >= block_count_; }

  /// By block: the weight of the edges between the vertex and the block. Valid until the next call or move. The vertex
  /// has a row. O(degree) the first time.
  std::span<const float> row(std::uint32_t vertex) {
    if (row_of_.empty()) row_of_.assign(graph_.vertex_count(), none);
    if (row_of_[vertex] == none) {
      row_of_[vertex] = row_count_++;
      if (row_of_[vertex] >> chunk_bits_ == chunks_.size()) chunks_.emplace_back(block_count_ << chunk_bits_);
      float* const weights = at(row_of_[vertex]);
      std::fill_n(weights, block_count_, 0.0F);
      for (const Edge edge : graph_.edges(vertex)) weights[block_of_[edge.to]] += edge.weight;
    }
    return {at(row_of_[vertex]), block_count_};
  }

  /// The vertex has moved between these blocks.
  void move(std::uint32_t vertex, std::uint32_t from, std::uint32_t to) {
    if (row_of_.empty()) return;
    for (const Edge edge : graph_.edges(vertex)) {
      if (row_of_[edge.to] == none) continue;
      float* const weights = at(row_of_[edge.to]);
      weights[from] -= edge.weight;
      weights[to] += edge.weight;
    }
  }

 private:
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  static std::uint32_t chunk_bits(std::size_t vertex_count, std::size_t block_count) {
    constexpr std::size_t weights_per_chunk = std::size_t{1} << 16;
    return static_cast<std::uint32_t>(std::bit_width(std::min(weights_per_chunk / block_count, vertex_count) / 2));
  }
  float* at(std::uint32_t row) {
    const std::size_t in_chunk = row & ((std::size_t{1} << chunk_bits_) - 1);
    return chunks_[row >> chunk_bits_].data() + in_chunk * block_count_;
  }

  const WeightedGraph& graph_;
  std::span<const std::uint32_t> block_of_;
  std::size_t block_count_;
  std::uint32_t chunk_bits_;  // a chunk has 2^chunk_bits_ rows
  std::uint32_t row_count_ = 0;
  Array<std::uint32_t> row_of_;       // of each vertex; empty until the first row
  std::vector<Array<float>> chunks_;  // block_count_ weights per row
};

}  // namespace rankloom::multilevel
