// SPDX-License-Identifier: Apache-2.0
// map/multilevel: multilevel k-way graph partitioning.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/multilevel/coarsening/graph_hierarchy.hpp"
#include "rankloom/map/multilevel/initial_partitioning/bisection.hpp"

namespace rankloom::multilevel {

struct PartitionOptions {
  BisectionOptions bisection;
  std::uint32_t repetitions = 1;           ///< Initial partitions of the coarsest graph; the best is kept.
  std::uint32_t vertices_per_block = 100;  ///< Contraction limit: coarsening ends at this many vertices per block.
  std::uint32_t fm_passes = 3;             ///< Passes of k-way FM on every level, at most.
  std::uint32_t flow_rounds = 1;           ///< Rounds of flow refinement on every level, at most.
  std::uint32_t runs = 1;                  ///< From coarsening to the last refinement; the best is kept.
  std::uint32_t recombinations = 0;        ///< Of the best run with one of the others, at most.
  std::uint32_t v_cycles = 0;          ///< On the best: coarsening within its blocks, and refinement on every level.
  std::uint32_t annealing_sweeps = 0;  ///< Of graphs that resist coarsening, instead of all the above; 0: none.
  FirstLevel first_level = FirstLevel::stored;
  Deadline deadline = {};  ///< When it passes, the rest is assigned to blocks in the order of the vertices.
};

struct KWayPartition {
  Array<std::uint32_t> block_of;
  double cut =
      0;  ///< The edge cut, or the cost that was minimised; infinite if the deadline passed before it was computed.
};

/// What differs between goals.
struct PartitionSteps {
  /// A partition of the coarsest graph.
  std::function<std::vector<std::uint32_t>(const WeightedGraph& coarsest, std::uint64_t seed)> initial;
  /// Refines a partition of a level and returns its cost.
  std::function<double(const WeightedGraph& level, std::span<std::uint32_t> block_of)> refine;
  /// A partition of the finest graph, if it resists coarsening; empty: coarsened like every other graph.
  std::function<Array<std::uint32_t>(std::uint64_t seed)> anneal = {};
};

/// Coarsening by heavy-edge matching, the best of several initial partitions, and refinement on every level; the best
/// of several runs and their recombinations, followed by V-cycles; at the end, overloaded blocks are relieved.
KWayPartition partition_multilevel(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                                   const PartitionOptions& options, const PartitionSteps& steps, std::uint64_t seed);

/// Coarsening by heavy-edge matching, initial partitioning by recursive bisection, k-way FM and flow refinement on
/// every level. No block exceeds its maximum weight if vertices have weight 1 and the blocks together have the
/// capacity. Parallel are the coarsening, the repetitions and the flow refinement; the result is the same for any
/// number of threads.
KWayPartition partition_kway(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                             const PartitionOptions& options, std::uint64_t seed);

}  // namespace rankloom::multilevel
