// SPDX-License-Identifier: Apache-2.0
// map/multilevel/coarsening: heavy-edge matching (Karypis, Kumar 1998): which vertices are contracted into one.
#pragma once

#include <cstdint>

#include "rankloom/core/array.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

class ContractionView;

struct Matching {
  Array<std::uint32_t> coarse_of;  ///< The coarse vertex of each vertex, numbered in the order of first vertices.
  std::uint32_t coarse_count = 0;
};

/// Matches neighbours that share a heavy edge, relative to their vertex weights; no pair weighs more than
/// `max_vertex_weight`, and no pair has two different `labels` (empty: no such constraint). In rounds, every free
/// vertex chooses its best free neighbour, and vertices that choose each other become a pair: a locally heaviest
/// matching, the same for any number of threads. Vertices that stay free because their best neighbour is taken are
/// matched with each other through that neighbour (two-hop matching). Parallel.
Matching heavy_edge_matching(const WeightedGraph& graph, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::span<const std::uint32_t> labels = {});
/// The same for a contraction that is not stored.
Matching heavy_edge_matching(const ContractionView& graph, std::uint64_t max_vertex_weight, std::uint64_t seed,
                             std::span<const std::uint32_t> labels = {});

}  // namespace rankloom::multilevel
