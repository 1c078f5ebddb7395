// SPDX-License-Identifier: Apache-2.0
// map/baseline: placements that ignore the traffic. Every other mapper is compared with them.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// One rank per node in turn; full nodes are skipped. Inside a node the cores take turns too: no core gets a second
/// rank before every usable core of its node has one. O(ranks + cores).
std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities);

/// Every assignment of the ranks to distinct slots is equally likely. O(ranks + cores).
std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                   Random& random);

}  // namespace rankloom
