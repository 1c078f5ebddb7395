// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: flow-based refinement of all pairs of adjacent blocks (Sanders, Schulz 2011).
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// All blocks are at the same distance from each other. In each round, the adjacent pairs of blocks are divided into
/// groups of disjoint pairs. The pairs of a group run in parallel and do not affect each other, so the result does not
/// depend on the number of threads. Needs blocks with slack. Never exceeds the maximum block weights and never
/// increases the cut. Returns the reduction of the cut.
double flow_refinement(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                       std::span<std::uint32_t> block_of, std::uint32_t rounds);

}  // namespace rankloom::multilevel
