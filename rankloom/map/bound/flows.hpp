// SPDX-License-Identifier: Apache-2.0
// map/bound: how much traffic must leave groups that hold only so many, seen over more than one edge.
#pragma once

#include <cstdint>

#include "rankloom/map/bound/shells.hpp"
#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// What one closed shell costs, proved by flows. Let some ranks send flows through the graph, each at most a_v to any
/// one other rank, all together within what the pairs' traffic costs. Of v's flow at most (places - 1) x a_v ends in
/// v's own group; the rest crosses its border, and what crosses borders is no more than what leaves. So
///     sum over v of (all that v sends - (places - 1) x a_v)
/// is a bound: the dual of the spreading metrics of Even, Naor, Rao, Schieber 1999. Any flows will do; good ones are
/// found by shortest paths around traffic that is already used. The graph is halved between partners. `work` limits the
/// edges that are looked at, in all; 0 is returned where it does not suffice. The same for any number of threads.
double cost_by_flows(const CommGraph& graph, const Shell& shell, std::uint64_t work);

}  // namespace rankloom
