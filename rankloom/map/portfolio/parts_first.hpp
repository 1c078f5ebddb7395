// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a placement on a network in two steps: which ranks share a node, as if all nodes were equally distant,
// and then on which node each of these parts is.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Places the ranks of a problem.
using Solve = std::function<std::vector<Core>(const MapProblem&)>;

/// `solve` is called with a problem on a tree of nodes, and then with one whose ranks are the parts and whose nodes
/// have one slot. Nothing if the machine is not a routed network, or if its nodes have one slot or differ in their
/// slots. O(edges + cores), without `solve`.
std::optional<std::vector<Core>> place_parts_first(const MapProblem& problem, const Solve& solve);

}  // namespace rankloom
