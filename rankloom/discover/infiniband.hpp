// SPDX-License-Identifier: Apache-2.0
// discover: an InfiniBand fabric as ibnetdiscover prints it.
#pragma once

#include <string_view>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

bool is_infiniband(std::string_view text);
/// Hosts by their descriptions, of one core each. Cabled as a tree, levels of switches; otherwise a graph whose cables
/// cost what their width and speed say. Fails when some hosts cannot reach others.
Result<MachineSpec> read_infiniband(const FileContents& file);

}  // namespace rankloom
