// SPDX-License-Identifier: Apache-2.0
// core/text: hostlist expressions as Slurm writes them: "n[001-016,20],login".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

/// No machine has more hosts. A larger number is an error in a range, and would need gigabytes of memory.
inline constexpr std::size_t max_listed_hosts = 262'144;

/// All host names in order. Leading zeros are kept ("n[08-10]" is n08 n09 n10). A name may contain several brackets at
/// any position. Blanks around names and a trailing comma are ignored. Fails on an empty list, on names that are not
/// plain or have more than 255 characters and on more than max_listed_hosts hosts; the error has no location, the
/// caller adds it.
Result<std::vector<std::string>> expand_hostlist(std::string_view text);

/// Letters, digits, "-", "_" and ".", not beginning with "-": names that every launcher's file can contain, and that
/// neither ssh nor a shell takes for something else.
bool is_plain_host_name(std::string_view name);

/// Expands all lists of one file, which may together need 64 MiB.
class HostlistExpander {
 public:
  Result<std::vector<std::string>> expand(std::string_view text);

 private:
  std::size_t memory_ = 0;
};

/// The host name without its domain: "node1" for "node1.cluster.example".
std::string_view short_host_name(std::string_view host);

}  // namespace rankloom
