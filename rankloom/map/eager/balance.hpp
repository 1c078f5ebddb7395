// SPDX-License-Identifier: Apache-2.0
// map/eager: from a placement by load to one without overloaded cores. Ours, not the paper's.
#pragma once

#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Moves and exchanges ranks until no core's load is more than 5 % above the larger of the average and the heaviest
/// rank, wherever the loads can be packed so; then as many exchanges as lower the cost without breaking that again.
Placement balanced(const MapProblem& problem, const MapRun& run, std::vector<Core> start);

}  // namespace rankloom
