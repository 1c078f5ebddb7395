// SPDX-License-Identifier: Apache-2.0
// map/eager: load balancing after the load-aware grouping: a placement without overloaded cores. This project's
// addition to Cruz 2019.
#pragma once

#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Moves and exchanges ranks of the load-aware placement `by_load` until no core's load is more than 5 % above the
/// lower bound (the larger of the average core load and the largest rank load), if such a packing is found. The cost
/// stays below 1.1 times that of `by_load` if such a placement is found. The note of the result tells when a goal was
/// missed. `by_number`: the placement that groups by number of ranks, a second start. A placement within the limit is
/// returned unless a cheaper one is found.
Placement balance_load(const MapProblem& problem, const MapRun& run, std::vector<Core> by_load,
                       std::vector<Core> by_number);

}  // namespace rankloom
