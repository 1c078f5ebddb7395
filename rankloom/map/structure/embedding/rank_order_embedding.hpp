// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: places ranks on a mesh or torus of nodes by the digits of their numbers.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

struct RankOrderLimits {
  std::uint64_t max_visits;  ///< Edges and ranks visited.
  std::uint64_t max_comparisons = std::numeric_limits<std::uint64_t>::max();
  /// The search ends earlier, and may find nothing, if the cost stays far above this.
  double cost_to_beat = std::numeric_limits<double>::infinity();
};

/// Programs number their ranks by what they compute: by row and column, by the bits of a butterfly, by groups of
/// groups. The prime digits of the rank number are assigned to the levels of the machine, starting with the block
/// placement, and a search over the assignments (improve_layout) minimises bytes x distance over all edges. Finds what
/// a partitioner does not see in the traffic of a hypercube, for instance. Nothing if the nodes are not a mesh or torus
/// or differ in their slots, if the number of ranks is not a product of factors of the levels, or if fewer than a few
/// assignments could be compared within the limits.
std::optional<std::vector<Core>> embed_rank_order(const MapProblem& problem, const RankOrderLimits& limits);

}  // namespace rankloom
