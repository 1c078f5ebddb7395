// SPDX-License-Identifier: Apache-2.0
// map/multilevel: whole groups of cores exchange what they hold.
#pragma once

#include <span>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom::multilevel {

/// On a machine whose parts of a level are all alike, the content of a part can change places with that of another
/// part, or move to an empty one, and nothing changes inside. Level by level, from the smallest parts up, such
/// exchanges are searched as moves with rollback on the true distances; they find what no exchange of single ranks
/// does: cliques that lie across two nodes, for one. Never ends above its start. O(edges) a level.
void exchange_objects(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                      std::span<Core> core_of, std::uint32_t passes);

}  // namespace rankloom::multilevel
