// SPDX-License-Identifier: Apache-2.0
// discover: lists of hosts as launchers take them.
#pragma once

#include <string_view>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// The first line that says something is a host.
bool is_hostlist(std::string_view text);

/// One host a line: "node1 4", "node1:4", "node1 slots=4" or plain "node1" for one slot; plain lines of one host add
/// up. A slot becomes a core. "#" begins a comment.
Result<MachineSpec> read_hostlist(const FileContents& file);

}  // namespace rankloom
