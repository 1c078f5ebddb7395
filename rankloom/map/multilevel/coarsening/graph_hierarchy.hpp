// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: the hierarchy of ever coarser graphs of a multilevel algorithm.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// Level 0 is the input graph, which must outlive the hierarchy; every further level is a contraction of the one below.
class GraphHierarchy {
 public:
  explicit GraphHierarchy(const WeightedGraph& finest) : finest_(finest) {}

  std::size_t level_count() const { return coarser_.size() + 1; }
  const WeightedGraph& graph(std::size_t level) const { return level == 0 ? finest_ : coarser_[level - 1].graph; }
  const WeightedGraph& coarsest() const { return graph(coarser_.size()); }

  /// Adds levels by heavy-edge matching until the coarsest graph has at most `contraction_limit` vertices, or a level
  /// shrinks by less than 5 %. No vertex gets heavier than `max_vertex_weight`.
  void coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed);
  /// The same for a V-cycle: only vertices of one block are contracted, so `block_of`, a partition of the finest graph,
  /// becomes the same partition of the coarsest one.
  void coarsen_within_blocks(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::vector<std::uint32_t>& block_of);

  /// From a level (1 or more) to the next finer one: every vertex gets the block of its coarse vertex.
  template <class Block>
  std::vector<Block> project(std::size_t level, const std::vector<Block>& block_of) const {
    const auto& coarse_of = coarser_[level - 1].coarse_of;
    std::vector<Block> finer(coarse_of.size());
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) finer[vertex] = block_of[coarse_of[vertex]];
    });
    return finer;
  }

 private:
  struct Level {
    WeightedGraph graph;
    std::vector<std::uint32_t> coarse_of;  // of each vertex of the next finer level
  };
  void coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
               std::vector<std::uint32_t>* block_of);

  const WeightedGraph& finest_;
  std::vector<Level> coarser_;
};

}  // namespace rankloom::multilevel
