// SPDX-License-Identifier: Apache-2.0
// map: nodes of a network in an order whose halves are near together, for mappers that know only trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine_tree.hpp"

namespace rankloom {

/// The parts are siblings that are not all equally far from each other: nodes on a network, cores of a table. Returns
/// them so that either half of the list is a neighbourhood, either half of that again, and so on: a mesh or torus is
/// cut across its longest side; elsewhere each list is cut between two ends that are far apart, by which end is nearer.
/// O(parts x log² parts).
std::vector<MachineTree::Part> near_order(const Topology& topology, std::span<const MachineTree::Part> parts);

/// The children of this part are such: their costs are not those of a level.
bool has_network(const MachineTree& tree, const MachineTree::Part& part);

}  // namespace rankloom
