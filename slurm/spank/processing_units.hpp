// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the processing units of one node, of which a step has some.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "slurm/spank/placement.hpp"

namespace rankloom::spank {

/// "0-3,8" → 0 1 2 3 8; nothing when it is no such list.
std::vector<std::uint32_t> numbers_in(std::string_view list);

/// Those on which this process may run, rising.
std::vector<std::uint32_t> allowed_units();

/// The operating system's number for a rank's seat, or nothing when it does not exist here. `cores` are those that
/// Slurm gave the step, counted by Slurm; a node that claims more than it has shares what it has in turn.
std::optional<std::uint32_t> unit_for(const Cpu& cpu, const std::vector<std::uint32_t>& allowed,
                                      const std::vector<std::uint32_t>& cores);

/// Binds this process; false when the system refuses.
bool bind_to(std::uint32_t unit);

}  // namespace rankloom::spank
