// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: k-way FM refinement (after Fiduccia, Mattheyses 1982) with ejection chains.
//
// All functions run passes of k-way FM. A pass repeatedly makes the best available move, even if it increases the
// cost, moves each vertex at most once, and rolls back to its best prefix. It stops early after many moves without
// improvement. Passes end when one gains less than 0.05 %, or after `passes`. A vertex moves only to blocks of its
// neighbours. A block may exceed its maximum weight by one vertex until another vertex is ejected from it, so that
// cyclic exchanges are possible in perfectly balanced partitions; where hardly any slack is left, ejection chains
// (Glover 1996) follow each pass. Overloaded blocks are relieved where that is possible. All return the final
// cost. O(boundary vertices x degree x adjacent blocks of a vertex) per pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/multilevel/network/block_distances.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {

/// All blocks at equal distance: the cost is the edge cut.
double fm_kway_cut(const WeightedGraph& graph, std::span<const std::uint64_t> max_block_weight,
                   std::span<std::uint32_t> block_of, std::uint32_t passes);
/// A vertex is a part of `cores_per_child` cores; a block is its parent, with `cores_per_block` cores. The cost is edge
/// weight x (distance between two blocks - distance between two children of one block). Cores are numbered block by
/// block.
double fm_kway_grouping(const WeightedGraph& graph, const Distance& distance, std::uint32_t cores_per_block,
                        std::uint32_t cores_per_child, std::span<const std::uint64_t> max_block_weight,
                        std::span<std::uint32_t> block_of, std::uint32_t passes);
/// Blocks are parts of a network.
double fm_kway_network(const WeightedGraph& graph, const BlockDistances& distance,
                       std::span<const std::uint64_t> max_block_weight, std::span<std::uint32_t> block_of,
                       std::uint32_t passes);
/// Blocks are cores: the cost is edge weight x distance.
double fm_kway_mapping(const WeightedGraph& graph, const Distance& distance,
                       std::span<const std::uint64_t> max_block_weight, std::span<std::uint32_t> core_of,
                       std::uint32_t passes);

}  // namespace rankloom::multilevel
