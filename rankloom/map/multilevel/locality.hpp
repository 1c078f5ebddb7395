// SPDX-License-Identifier: Apache-2.0
// map/multilevel: vertices renumbered so that those who talk are near each other in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// The vertices in the order in which a breadth-first search meets them; empty when their own order is good enough.
std::vector<std::uint32_t> local_order(const WeightedGraph& graph);

/// The same graph with vertex order[i] renumbered i. Parallel.
WeightedGraph reordered(const WeightedGraph& graph, std::span<const std::uint32_t> order);

}  // namespace rankloom::multilevel
