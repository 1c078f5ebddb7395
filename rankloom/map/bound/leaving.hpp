// SPDX-License-Identifier: Apache-2.0
// map/bound: how much traffic must leave groups of ranks that hold only so many.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/bound/shells.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// What all shells together cost: every rank keeps its heaviest partners inside, as many as there is room for, whatever
/// the others do. Rows may be of any graph, but are best halved between partners. O(edges x log degree), parallel.
double cost_beyond_shells(const CommGraph& graph, std::span<const Shell> shells);

/// What one shell costs, where a pair stays inside only if both have room for it: the dual of the fractional matching
/// in which every rank keeps at most places - 1 partners. Never below what cost_beyond_shells says of the shell. The
/// graph is halved between partners. `sweeps` times over all ranks the duals are improved. O(sweeps x edges).
double cost_beyond(const CommGraph& graph, const Shell& shell, std::uint64_t sweeps);

}  // namespace rankloom
