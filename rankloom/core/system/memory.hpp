// SPDX-License-Identifier: Apache-2.0
// core/system: the memory that this process may use; rejects problems that do not fit before they are allocated.
#pragma once

#include <optional>
#include <string>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct UsableMemory {
  double bytes = 0;
  std::string limit;  ///< What limits it to less than the machine has; empty: nothing does.
};

/// The memory of the machine, or less if a control group or a resource limit of this process allows less.
UsableMemory usable_memory();

/// The lowest memory limit of the control groups in `groups`, the text of /proc/self/cgroup, and of the groups that
/// contain them. `mounted` is /sys/fs/cgroup. Versions 1 and 2.
std::optional<double> control_group_limit(const std::string& groups, const std::string& mounted);

/// Fails if `what` needs more bytes than this process may use.
Result<void> check_memory(Where where, std::string what, double bytes, std::string hint);

}  // namespace rankloom
