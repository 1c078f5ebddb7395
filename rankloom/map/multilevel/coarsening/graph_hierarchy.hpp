// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: the hierarchy of ever coarser graphs of a multilevel algorithm.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/coarsening/heavy_edge_matching.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// What is kept of the first contraction, whose graph is as large as all coarser ones together.
enum class FirstLevel : std::uint8_t {
  stored,
  recomputed,  ///< From the input graph, when it is needed: half of the memory, the same graphs, more time.
};

/// Level 0 is the input graph, which must outlive the hierarchy; every further level is a contraction of the one below.
class GraphHierarchy {
 public:
  explicit GraphHierarchy(const WeightedGraph& finest, FirstLevel first_level = FirstLevel::stored)
      : finest_(finest), first_level_(first_level) {}

  bool is_finest() const { return coarser_.empty(); }
  const WeightedGraph& coarsest() const { return is_finest() ? finest_ : *coarser_.back().graph; }

  /// Adds levels by heavy-edge matching until the coarsest graph has at most `contraction_limit` vertices, or a level
  /// shrinks by less than 5 %. No vertex gets heavier than `max_vertex_weight`.
  void coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed);
  /// The same, unless more than `max_edges` would be left, of which a sample decides first. Returns whether at most
  /// these are left, or more vertices than the limit; otherwise, no level is added.
  bool coarsen_unless_dense(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                            std::uint64_t max_edges);
  /// The same as coarsen() for a V-cycle: only vertices of one block are contracted, so `block_of`, a partition of the
  /// finest graph, becomes the same partition of the coarsest one.
  void coarsen_within_blocks(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             Array<std::uint32_t>& block_of);

  /// Removes the coarsest level, and returns its partition as one of the next finer level: every vertex gets the block
  /// of its coarse vertex.
  template <class Blocks>
  Blocks uncoarsen(const Blocks& block_of) {
    const Array<std::uint32_t> coarse_of = remove_coarsest();
    Blocks finer(coarse_of.size());
    parallel_chunks(coarse_of.size(), [&](std::size_t begin, std::size_t end) {
      for (std::size_t vertex = begin; vertex < end; ++vertex) finer[vertex] = block_of[coarse_of[vertex]];
    });
    return finer;
  }

 private:
  struct Level {
    std::optional<WeightedGraph> graph;  // none: recomputed when the coarser levels have been removed
    Array<std::uint32_t> coarse_of;      // of each vertex of the next finer level
  };
  static constexpr std::uint64_t any_number = std::numeric_limits<std::uint64_t>::max();

  bool coarsen(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
               Array<std::uint32_t>* block_of, std::uint64_t max_edges);
  enum class Added : std::uint8_t { both, none, too_dense };
  Added add_two_levels(std::uint64_t contraction_limit, std::uint64_t max_vertex_weight, std::uint64_t seed,
                       Matching& first, Array<std::uint32_t>* block_of, std::uint64_t max_edges);
  Array<std::uint32_t> remove_coarsest();

  const WeightedGraph& finest_;
  FirstLevel first_level_;
  std::vector<Level> coarser_;
};

}  // namespace rankloom::multilevel
