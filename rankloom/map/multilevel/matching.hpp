// SPDX-License-Identifier: Apache-2.0
// map/multilevel: which vertices become one on the next coarser level.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

struct Coarsening {
  std::vector<std::uint32_t> coarse_of;
  std::uint32_t coarse_count = 0;
};

/// Pairs of neighbours with much weight between them for their sizes, no pair larger than `largest`; nobody whose
/// `label` differs from the other's (labels may be empty: no such limit). In rounds, every free vertex names its best
/// free neighbour, and those who name each other are a pair: a locally heaviest matching, the same for any number of
/// threads. Vertices left alone whose best neighbour is taken are paired by that neighbour ("two hops"). Parallel.
Coarsening matched(const WeightedGraph& graph, std::uint64_t largest, std::uint64_t seed,
                   std::span<const std::uint32_t> label = {});

}  // namespace rankloom::multilevel
