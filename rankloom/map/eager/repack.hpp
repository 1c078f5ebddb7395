// SPDX-License-Identifier: Apache-2.0
// map/eager: ranks change places by their loads alone, but no farther away than needed.
#pragma once

#include <span>
#include <vector>

#include "rankloom/model/mapping.hpp"

namespace rankloom {

/// Goes through the machine from its smallest parts up. In a part that has a core above the limit, ranks move and
/// exchange places until none is, or the part is packed afresh; what a part cannot mend is left to the part around it,
/// at last to the whole machine. Returns the load of the heaviest core that is left: above the limit only if no packing
/// of the whole was found. `loads` by rank, `places` by core.
double repack(const Topology& topology, const Capacities& capacities, std::span<const double> loads,
              std::span<const std::uint32_t> places, double limit, std::vector<Core>& core_of);

}  // namespace rankloom
