// SPDX-License-Identifier: Apache-2.0
// map: makes a placement valid that exceeds the capacity of some cores, as partitioners return it.
#pragma once

#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The placement with no core above its capacity. From each overloaded core only the excess ranks leave: those with the
/// least traffic inside the core and inside the largest overloaded part around it. They go no further than necessary:
/// to a core of the same object if it has free slots, otherwise of the next larger one, and there to the position with
/// the smallest cost. Every rank must be on a core of the topology. O(cores x levels + edges of the ranks that leave).
std::vector<Core> repair_placement(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of);

}  // namespace rankloom
