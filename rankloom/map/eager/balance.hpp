// SPDX-License-Identifier: Apache-2.0
// map/eager: from a placement by load to one without overloaded cores. Ours, not the paper's.
#pragma once

#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Moves and exchanges ranks of the placement by load until no core's load is more than 5 % above the larger of the
/// average and the heaviest rank, wherever the loads can be packed so, at a cost of at most 1.1 times its own wherever
/// that can be found; the note says where not. `by_number`: the placement by numbers of ranks, another start. Loads
/// that are within the limit already are left as they are.
Placement balanced(const MapProblem& problem, const MapRun& run, std::vector<Core> by_load,
                   std::vector<Core> by_number);

}  // namespace rankloom
