// SPDX-License-Identifier: Apache-2.0
// capture/threads: what leaves the program: a profile as every verb reads it (docs/formats.md).
#pragma once

#include <cstdint>

#include "rankloom/capture/threads/lines.hpp"

namespace rankloom::threads {

/// Reads the environment, once, while it and the working folder are those that the program was started with:
///   RANKLOOM_THREADS_OUT     where the profile goes, %p stands for the process id; rankloom-threads.%p.prof without it
///   RANKLOOM_THREADS_WINDOW  how much memory is remembered, such as 8M or 1G; 64M without it
/// The value is the number of lines to remember, a power of two.
RANKLOOM_HIDDEN std::uint64_t read_settings();

/// Writes beside the target and renames. Allocates nothing from the program's heap, and a failure is one line on
/// stderr. A forked child does not overwrite its parent's file: unless the name holds %p, its process id is added.
RANKLOOM_HIDDEN void write_recording(bool is_fork_child);

}  // namespace rankloom::threads
