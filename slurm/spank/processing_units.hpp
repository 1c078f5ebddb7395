// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: the processing units of a step on one node.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "slurm/spank/placement.hpp"

namespace rankloom::spank {

/// "0-3,8" → 0 1 2 3 8; empty if the text is not such a list.
std::vector<std::uint32_t> parse_units(std::string_view list);

/// The units that this process may run on, in increasing order.
std::vector<std::uint32_t> allowed_units();

/// The OS indices of those units of a rank that it may run on; empty if there are none. `cores` are the cores of the
/// step in Slurm's numbering. On a node that is configured with more cores than it has, ranks share the units
/// round-robin.
std::vector<std::uint32_t> find_units(const SlotChoice& choice, const std::vector<std::uint32_t>& allowed,
                                      const std::vector<std::uint32_t>& cores);

/// Binds this process. False if the system refuses.
bool bind_to_units(const std::vector<std::uint32_t>& units);

}  // namespace rankloom::spank
