// SPDX-License-Identifier: Apache-2.0
// map/eager: ranks leave overloaded cores for cores that can take them, at the least cost.
#pragma once

#include "rankloom/map/local_search/load_limit.hpp"
#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// From each overloaded core those ranks move away that cost the least for the load they take with them, to the best
/// of the cores with room that are nearest to where they sit and to where their partners sit. Brings no core above the
/// limit; some may stay above it. When the time is up, any core with room will do.
void relieve(Seating& seating, LoadLimit& limit, Pulse& pulse);

/// The same by falling load: each rank stays where it is if that core has room beside the heavier ones that were asked
/// before it, and takes the best core with room if not. So it is the light ones that give way, which always find a
/// place more easily. Only where any number of ranks may share a core.
void reseat_by_falling_load(Seating& seating, LoadLimit& limit, Pulse& pulse);

}  // namespace rankloom
