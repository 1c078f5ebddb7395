// SPDX-License-Identifier: Apache-2.0
// map/multilevel: exchanges the contents of whole parts of the machine.
#pragma once

#include <span>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/multilevel/weighted_graph.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {

/// On a symmetric machine, the ranks of a part can swap with those of another part of the same level, or move to an
/// empty one, without any change of the costs inside. Level by level, from the smallest parts up, k-way FM on the exact
/// distances searches such exchanges. They find improvements that no exchange of single ranks finds, for instance for a
/// clique that is placed across two nodes. Never increases the cost. O(edges) per level. Does nothing on a machine that
/// is not symmetric.
void exchange_subtrees(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                       std::span<Core> core_of, std::uint32_t passes);

}  // namespace rankloom::multilevel
