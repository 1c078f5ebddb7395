// SPDX-License-Identifier: Apache-2.0
// map/eager: greedy groups laid on a machine of any shape (Cruz 2019, Algorithms 1, 4 and 5, and section 3.6).
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// A core for every rank. `loads` by rank: groups are bounded by load; empty: by number. The capacities are respected.
/// O(edges log edges) for each level of the machine; the same for any number of threads.
std::vector<Core> eager_placement(const CommGraph& graph, const Topology& topology, const Capacities& capacities,
                                  std::span<const double> loads);

}  // namespace rankloom
