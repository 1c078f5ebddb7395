// SPDX-License-Identifier: Apache-2.0
// capture/threads: how much each thread did: CPU time always, instructions where the system lets us count them.
#pragma once

#include "rankloom/capture/threads/roster.hpp"

namespace rankloom::threads {

/// The calling thread, which has just taken this place.
RANKLOOM_HIDDEN void start_counting_work(Place& place);
/// The thread ends: what it did is added to what the place remembers.
RANKLOOM_HIDDEN void add_up_work(Place& place);
/// In the child of a fork: the counters are the parent's.
RANKLOOM_HIDDEN void forget_work(Place& place);

struct Work {
  double seconds = 0;
  double instructions = 0;
  bool instructions_known = false;
};
/// Of all threads that had this place, with the one that has it now.
RANKLOOM_HIDDEN Work work_so_far(const Place& place);

}  // namespace rankloom::threads
