// SPDX-License-Identifier: Apache-2.0
// discover: an InfiniBand fabric from the output of ibnetdiscover.
#pragma once

#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

bool is_infiniband(std::string_view text);
/// Hosts of one core each, named by their node descriptions. A fabric that is a tree becomes levels of switches; any
/// other fabric becomes a graph whose cables have the cost of their width and speed. Fails if the fabric is not
/// connected.
Result<MachineSpec> read_infiniband(const FileContents& file);

}  // namespace rankloom
