// SPDX-License-Identifier: Apache-2.0
// discover/strings: hostfiles (machinefiles) of launchers.
#pragma once

#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// Whether the first line that is not empty or a comment is a host.
bool is_hostfile(std::string_view text);

/// One host per line: "node1 4", "node1:4", "node1 slots=4", or "node1" for one slot. Repeated lines without a count
/// add up. Each slot becomes a core. "#" starts a comment.
Result<MachineSpec> read_hostfile(const FileContents& file);

}  // namespace rankloom
