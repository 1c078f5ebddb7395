// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: simulated annealing of k-way partitions.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/core/array.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// The number of a block must fit into 16 bits.
inline constexpr std::size_t max_blocks_to_anneal = std::size_t{1} << 16;

struct AnnealingOptions {
  std::uint32_t sweeps = 200;  ///< In each one, every vertex tries to move once.
  Deadline deadline = {};      ///< When it passes, only moves without a loss follow, in a few sweeps.
};

/// A partition with a small edge cut, by simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983; Johnson, Aragon,
/// McGeoch, Schevon 1989) from an arbitrary balanced partition: for graphs that have no structure which coarser graphs
/// would show. Blocks are filled up to their maximum weight, so there has to be some slack. Parallel; the result is the
/// same for any number of threads.
Array<std::uint32_t> annealed_partition(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                                        const AnnealingOptions& options, std::uint64_t seed);

}  // namespace rankloom::multilevel
