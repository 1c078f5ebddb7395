// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the work of each thread: CPU time, and instructions where the system allows counting them.
#pragma once

#include "rankloom/capture/threads/runtime/thread_registry.hpp"

namespace rankloom::threads {

/// Opens the counters of the calling thread, which was just attached to the entry.
RANKLOOM_HIDDEN void open_work_counters(ThreadEntry& entry);
/// Adds the work of the ending thread to its entry.
RANKLOOM_HIDDEN void accumulate_work(ThreadEntry& entry);
/// In the child of a fork: discards the counters, which belong to the parent.
RANKLOOM_HIDDEN void reset_work(ThreadEntry& entry);

struct Work {
  double seconds = 0;
  double instructions = 0;
  bool instructions_known = false;
};
/// The work of all threads of the entry, including the running one.
RANKLOOM_HIDDEN Work total_work(const ThreadEntry& entry);

}  // namespace rankloom::threads
