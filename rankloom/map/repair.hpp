// SPDX-License-Identifier: Apache-2.0
// map: makes a placement valid that puts too many ranks on some cores, as partitioners return them.
#pragma once

#include <vector>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// The placement with no core above its capacities. From each overfull core only as many ranks leave as are too many, those
/// with the least traffic inside it and inside what is overfull around it, and no further than they must: to a core of
/// the same object where there is room, else of the next larger one, there to where they lose least. Every rank must be
/// on a core of the topology. O(cores x levels + edges of those who leave).
std::vector<Core> repaired(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of);

}  // namespace rankloom
