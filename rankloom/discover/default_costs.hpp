// SPDX-License-Identifier: Apache-2.0
// discover: default costs for sources that describe the structure of a machine but not its speed.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// For levels named top down ("node", "package", "numa", "l3", "core"): the cost between two processing units whose
/// innermost common object is of that level, in nanoseconds of a typical server. The cost decreases strictly from level
/// to level, in any order of levels. A level that is not in the table costs a quarter more than the level below it.
std::vector<Cost> default_level_costs(std::span<const std::string> kinds);

/// The cost between nodes whose lowest common switch has this height; a leaf switch has height 1.
Cost default_switch_cost(std::size_t height);

}  // namespace rankloom
