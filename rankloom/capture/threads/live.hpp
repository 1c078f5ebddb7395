// SPDX-License-Identifier: Apache-2.0
// capture/threads: the recorder's side of the table that others may read. Without RANKLOOM_THREADS_LIVE every function
// here does nothing. None is called where lines are counted.
#pragma once

#include <cstdint>

#include <sys/types.h>

#include "rankloom/capture/threads/lines.hpp"

namespace rankloom::threads {

/// Makes the file, if it is asked for and nobody has it yet: one process counts in it.
RANKLOOM_HIDDEN void open_live_table();
/// Where this number counts; nothing: in memory of its own.
RANKLOOM_HIDDEN std::uint64_t* live_row(std::uint32_t number);
RANKLOOM_HIDDEN void tell_live_thread(std::uint32_t number, pid_t system_id);
RANKLOOM_HIDDEN void tell_live_openmp_number(std::uint32_t number, int openmp_number);
RANKLOOM_HIDDEN void end_live_table();
/// In the child of a fork: the file is the parent's; what the child counts from here on stays with it.
RANKLOOM_HIDDEN void leave_live_table();

}  // namespace rankloom::threads
