// SPDX-License-Identifier: Apache-2.0
// map/portfolio: a quick construction from nothing.
#pragma once

#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Takes the places of the block placement in order and gives each to the rank that talks most to those already in the
/// same smallest group of cores; a new group begins with the rank that talks most to all placed so far. O(edges x log
/// edges).
std::vector<Core> grown_placement(const MapProblem& problem);

}  // namespace rankloom
