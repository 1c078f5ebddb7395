// SPDX-License-Identifier: Apache-2.0
// apps/bind: a process that looks at the threads of a rank while it runs.
#pragma once

#include <string>

namespace rankloom::bind {

/// Starts a process that is not a child of this one. It appends lines "BEGINNING threads CPUS:TICKS .." to the file:
/// where each thread of this process may run, and its processor time. It looks soon after the start, and then at
/// intervals that become longer; it ends with this process. Failures are ignored.
void start_thread_watcher(const std::string& beginning, const std::string& file);

}  // namespace rankloom::bind
