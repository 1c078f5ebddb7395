// SPDX-License-Identifier: Apache-2.0
// map/multilevel/initial_partitioning: multilevel bisection, and k blocks by recursive bisection.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/multilevel/refinement/fm_bipartition.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

struct BisectionOptions {
  std::uint32_t repetitions = 1;         ///< Multilevel runs on the graph of `coarse_vertices`; the best is kept.
  std::uint32_t coarse_vertices = 4000;  ///< Repetitions run on a graph coarsened to this size.
  std::uint32_t initial_attempts = 4;    ///< Greedy graph growings on the coarsest graph, per repetition.
  std::uint32_t fm_passes = 3;           ///< On every level, at most.
  bool flow_refinement = true;           ///< Refine the best bipartition by flows as well.
};

/// Multilevel bisection: heavy-edge matching (Karypis, Kumar 1998), greedy graph growing on the coarsest graph, FM
/// (Fiduccia, Mattheyses 1982) on every level. Pulls of the graph count like edges. No side
/// exceeds its maximum weight if both together have the capacity and vertices have weight 1. One thread.
Bipartition bisect(const WeightedGraph& graph, const SideWeights& max_block_weight, const BisectionOptions& options,
                   std::uint64_t seed);

/// The maximum weights of the two sides of one bisection of a graph of this total weight, whose sides are later divided
/// into blocks of these maximum weights: the free capacity is distributed as equal factors over all bisections that are
/// still to come (adaptive imbalance).
SideWeights side_weights(std::span<const std::uint64_t> left, std::span<const std::uint64_t> right,
                         std::uint64_t total_weight);

/// A partition into max_block_weight.size() blocks by bisecting the graph, then each side, and so on. When the deadline
/// passes, the rest is assigned to blocks in the order of the vertices. One thread.
std::vector<std::uint32_t> recursive_bisection(const WeightedGraph& graph,
                                               std::span<const std::uint64_t> max_block_weight,
                                               const BisectionOptions& options, std::uint64_t seed,
                                               const Deadline& deadline);

}  // namespace rankloom::multilevel
