// SPDX-License-Identifier: Apache-2.0
// map: the nodes of a network in an order of locality, for mappers that work on trees.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine/machine_tree.hpp"

namespace rankloom {

/// Orders siblings that are not at equal distance from each other, such as the nodes of a network or the cores of a
/// distance table. The parts in each half of the result are close to each other, those in each half of a half again,
/// and so on: recursive bisection. A mesh or torus is bisected across its longest side. On other networks the list is
/// sorted between two distant parts, by which of the two is closer. O(parts x log² parts).
std::vector<MachineTree::Part> locality_order(const Topology& topology, std::span<const MachineTree::Part> parts);

/// Reorders siblings so that the first ones, whose number is returned, and the others are two halves, each close
/// together. A mesh is cut across its longest side, a dragonfly between groups, then between routers, a fat tree
/// between switches; the halves may differ by one layer, group or switch. Other networks are cut like in
/// locality_order(). At least two parts. O(parts x log parts).
std::size_t split_by_locality(const Topology& topology, std::span<MachineTree::Part> parts);

/// Whether the children of this part are connected by a network or a distance table, and not by a level of equal cost.
bool has_network(const MachineTree& tree, const MachineTree::Part& part);

}  // namespace rankloom
