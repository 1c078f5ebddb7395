// SPDX-License-Identifier: Apache-2.0
// map/bound: the traffic of each rank with each partner, both directions together.
#pragma once

#include "rankloom/model/comm_graph.hpp"

namespace rankloom {

/// The same traffic, half of what a pair says to each other in the row of either; nothing to oneself. A placement costs
/// as much as before where distances are symmetric. 24 bytes an edge while it is made.
CommGraph halved_between_partners(const CommGraph& graph);

}  // namespace rankloom
