// SPDX-License-Identifier: Apache-2.0
// map/bound: how much traffic must leave objects with a limited number of slots, proved by multicommodity flows.
#pragma once

#include <cstdint>

#include "rankloom/map/bound/distance_shells.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom {

/// A lower bound on the cost of one shell that is an object of the machine. Let every rank v send flow through the
/// graph, at most a_v to any other rank, such that all flows together stay within the cost of each pair's traffic. At
/// most (slots - 1) x a_v of the flow of v ends inside the object of v. The rest crosses the boundary of the object,
/// and the flow across boundaries is at most the traffic across boundaries. So
///     sum over v of (all flow sent by v - (slots - 1) x a_v)
/// is a lower bound: the dual of the spreading metrics of Even, Naor, Rao, Schieber 1999. Any flows are valid; good
/// ones are found by shortest paths that avoid pairs in use. The graph must be symmetric (symmetrise_traffic).
/// `max_work` limits the number of edges visited; returns 0 if it does not suffice. The same for any number of threads.
double flow_bound(const CommGraph& graph, const DistanceShell& shell, std::uint64_t max_work);

}  // namespace rankloom
