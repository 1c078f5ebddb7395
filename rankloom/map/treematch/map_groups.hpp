// SPDX-License-Identifier: Apache-2.0
// map/treematch: MapGroups for machines whose parts differ: maps a tree of groups to parts that do not match the sizes
// of the groups.
#pragma once

#include <vector>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/mapper.hpp"
#include "rankloom/map/treematch/group_tree.hpp"

namespace rankloom {

/// Top down: the groups of a part are placed on its children, the largest group first. A group goes to the child where
/// other members of its parent group are, if it fits there, otherwise to the child with the smallest sufficient
/// capacity. A group that fits nowhere is divided into its members. A single rank always fits, so the placement is
/// valid. Where cores are shared, each core gets as many ranks as in the block placement. O(ranks x levels of the
/// machine x log ranks).
std::vector<Core> map_groups(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups);

}  // namespace rankloom
