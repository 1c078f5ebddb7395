// SPDX-License-Identifier: Apache-2.0
// map/treematch: a tree of groups on a machine whose parts differ, where no group has a place of its own size.
#pragma once

#include <vector>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/treematch/group_tree.hpp"

namespace rankloom {

/// From the top of the machine down: of what has to find a place in a part, the largest group comes first. It goes
/// whole where the rest of its larger group is, if it fits there, else to the child with the smallest room that holds
/// it; what fits nowhere is taken apart into its members. A group of one always fits, so the placement is valid. Where
/// cores are shared, each holds its fair share. O(ranks x levels of the machine x log ranks).
std::vector<Core> lay_out(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups);

}  // namespace rankloom
