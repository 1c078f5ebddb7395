// SPDX-License-Identifier: Apache-2.0
// map/multilevel: moves of vertices between parts, with rollback.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom::multilevel {

/// The k-way search of Fiduccia and Mattheyses' kind: again and again the best move of all, also when it costs, each
/// vertex once; then back to the best moment; passes until one gains nothing, at most `passes`. A vertex moves only to
/// parts that hold somebody it talks to. A part may be too full by one vertex for as long as it takes to move somebody
/// on, so that exact divisions are searched as rings of exchanges. Returns the cost; what is too full at the start is
/// relieved where that can be. O(boundary x degree x parts around a vertex) a pass.
///
/// All parts equally far from each other: the cost is the weight between parts.
double improve_cut(const WeightedGraph& graph, std::span<const std::uint64_t> room, std::span<std::uint32_t> part_of,
                   std::uint32_t passes);
/// Parts are objects of `above` cores each that hold objects of `below` cores each; the cost is weight x distance
/// beyond that inside a part. Cores are numbered part by part.
double improve_grouping(const WeightedGraph& graph, const Distance& distance, std::uint32_t above, std::uint32_t below,
                        std::span<const std::uint64_t> room, std::span<std::uint32_t> part_of, std::uint32_t passes);
/// Parts are cores: the cost is weight x distance.
double improve_mapping(const WeightedGraph& graph, const Distance& distance, std::span<const std::uint64_t> room,
                       std::span<std::uint32_t> core_of, std::uint32_t passes);

}  // namespace rankloom::multilevel
