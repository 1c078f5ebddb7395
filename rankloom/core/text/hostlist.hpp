// SPDX-License-Identifier: Apache-2.0
// core/text: hostlist expressions as Slurm writes them: "n[001-016,20],login".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// All host names in order. Leading zeros are kept ("n[08-10]" is n08 n09 n10). A name may contain several brackets at
/// any position. Blanks around names and a trailing comma are ignored. Fails on an empty list, on names that are not
/// plain and on more than 4 million hosts; the error has no location, the caller adds it.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

/// Letters, digits, "-", "_" and ".", not beginning with "-": names that every launcher's file can contain, and that
/// neither ssh nor a shell takes for something else.
bool is_plain_host_name(std::string_view name);

/// The host name without its domain: "node1" for "node1.cluster.example".
std::string_view short_host_name(std::string_view host);

}  // namespace rankloom
