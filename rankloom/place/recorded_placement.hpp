// SPDX-License-Identifier: Apache-2.0
// place: the placement that a launcher chose when a profile was recorded, as cores of a machine.
#pragma once

#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// The slot of each rank. Ranks that could run on several slots are spread evenly over them, in order. Fails if the
/// locations are not recorded, if the machine lacks one of the hosts or its processing units, or if a slot would have
/// more ranks than its capacity.
Result<std::vector<Core>> recorded_placement(const Locations& locations, const Topology& topology,
                                             const Capacities& capacities);

}  // namespace rankloom
