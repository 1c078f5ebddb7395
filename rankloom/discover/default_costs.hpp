// SPDX-License-Identifier: Apache-2.0
// discover: what sending costs where a source knows the shape of a machine but not its speed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// For levels named top down ("node", "package", "numa", "l3", "core"): the cost between two processing units whose
/// innermost common object is of that level, in nanoseconds of an ordinary server. It falls strictly from level to
/// level, in whatever order a machine has them; levels that are not in the table come a quarter dearer than what is
/// below them.
std::vector<Cost> default_sharing_costs(std::span<const std::string> kinds);

/// Between nodes whose lowest common switch has this height; 1: a switch to which both are cabled.
Cost default_switch_cost(std::size_t height);

}  // namespace rankloom
