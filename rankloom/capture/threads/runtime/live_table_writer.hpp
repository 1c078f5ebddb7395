// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: the writer of the LiveTable, which other processes may read. If RANKLOOM_THREADS_LIVE is not
// set, all functions do nothing. None is called in the fast path.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

namespace rankloom::threads {

/// Creates the file, if it is requested and does not exist yet: only one process counts in it.
RANKLOOM_HIDDEN void open_live_table();
/// The counters of this thread number in the table; nullptr: the caller allocates memory.
RANKLOOM_HIDDEN std::uint64_t* live_row(std::uint32_t number);
RANKLOOM_HIDDEN void publish_thread(std::uint32_t number, pid_t system_id);
RANKLOOM_HIDDEN void publish_openmp_number(std::uint32_t number, int openmp_number);
RANKLOOM_HIDDEN void mark_live_table_ended();
/// In the child of a fork: the file belongs to the parent, so the child counts in private memory from now on.
RANKLOOM_HIDDEN void detach_live_table_after_fork();

}  // namespace rankloom::threads
