// SPDX-License-Identifier: Apache-2.0
// discover: names of hosts as Slurm shortens them: "n[001-016,20],login".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// All names in their order; leading zeros are kept ("n[08-10]" is n08 n09 n10), brackets may stand anywhere and
/// several times. The error has no place: the caller knows it.
Result<std::vector<std::string>> expand_hosts(std::string_view text);

/// "node1" of "node1.cluster.example".
std::string_view short_name(std::string_view host);

}  // namespace rankloom
