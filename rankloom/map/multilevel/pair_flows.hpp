// SPDX-License-Identifier: Apache-2.0
// map/multilevel: every two parts that touch look for a better border between them, by flows.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// Parts are equally far from each other. Pairs of parts are taken in rounds in which no part comes twice, the pairs of
/// a round at once: what one of them changes is none of the others' concern, so the result is the same for any number
/// of threads. Needs parts that are not full; keeps them within their room, and the cut never grows (Sanders, Schulz
/// 2011). Returns what was gained.
double improve_borders(const WeightedGraph& graph, std::span<const std::uint64_t> room,
                       std::span<std::uint32_t> part_of, std::uint32_t rounds);

}  // namespace rankloom::multilevel
