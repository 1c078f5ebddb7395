// SPDX-License-Identifier: Apache-2.0
// capture/threads/runtime: writes the profile of the threads (docs/formats.md) at the end of the program.
#pragma once

#include <cstdint>

#include "rankloom/capture/threads/runtime/cache_lines.hpp"

namespace rankloom::threads {

/// Reads the environment at the start of the program, before it can change the environment or the working directory:
///   RANKLOOM_THREADS_OUT     the path of the profile, with %p for the process id; default rankloom-threads.%p.prof
///   RANKLOOM_THREADS_WINDOW  the size of the memory that is remembered, such as 8M or 1G; default 64M
/// Returns the number of cache lines to remember, a power of two.
RANKLOOM_HIDDEN std::uint64_t read_settings();

/// Writes a temporary file next to the target and renames it. Does not allocate from the program's heap. A failure is
/// reported by one line on stderr. A forked child does not overwrite its parent's file: if the path does not contain
/// %p, the process id is appended.
RANKLOOM_HIDDEN void write_profile_file(bool is_fork_child);

}  // namespace rankloom::threads
