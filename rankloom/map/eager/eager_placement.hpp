// SPDX-License-Identifier: Apache-2.0
// map/eager: EagerMap on a machine of any shape: the top-level algorithm, RecreateMatrix and MapGroupsToTopology (Cruz
// 2019, Algorithms 1, 4 and 5), and clusters whose network is not a tree (section 3.6).
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// The core of every rank. `loads`, by rank: groups are bounded by load; empty: by number. The capacities are
/// respected. O(edges log edges) per level of the machine. The result does not depend on the number of threads.
std::vector<Core> eager_placement(const CommGraph& graph, const Topology& topology, const Capacities& capacities,
                                  std::span<const double> loads);

}  // namespace rankloom
