// SPDX-License-Identifier: Apache-2.0
// map/bound: a shell with S slots keeps at most S - 1 partners of a rank: the traffic with all others must leave it.
#pragma once

#include <cstdint>
#include <span>

#include "rankloom/map/bound/distance_shells.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// A lower bound on the cost of all shells together: every rank keeps its heaviest partners inside each shell, as many
/// as fit, independently of the other ranks. Valid for any graph, but tightest for symmetric traffic
/// (symmetrise_traffic). O(edges x log degree), parallel.
double degree_capacity_bound(const CommGraph& graph, std::span<const DistanceShell> shells);

/// A lower bound on the cost of one shell, in which a pair stays inside only if both ranks keep it: the dual of the
/// fractional b-matching in which every rank keeps at most slots - 1 partners. At least as tight as
/// degree_capacity_bound for this shell. The graph must be symmetric (symmetrise_traffic). Improves the dual prices in
/// `sweeps` passes over all ranks. O(sweeps x edges).
double matching_bound(const CommGraph& graph, const DistanceShell& shell, std::uint64_t sweeps);

/// The same traffic made symmetric: each rank gets half of the traffic with each partner, both directions together, and
/// none with itself. If distances are symmetric, every placement has the same cost as before, except for traffic of
/// ranks with themselves. 24 bytes per edge during the construction.
CommGraph symmetrise_traffic(const CommGraph& graph);

}  // namespace rankloom
