// SPDX-License-Identifier: Apache-2.0
// map/baseline: placements that ignore the traffic. Every other mapper is compared with them.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

enum class RoundRobinLevel : std::uint8_t {
  node,
  package,  ///< Nodes are filled one after the other; their packages take turns.
  numa,     ///< The same with NUMA nodes; with packages if the machine has no NUMA nodes, as block if it has neither.
};

/// One rank per node, package or NUMA node in turn; full ones are skipped. Their cores take turns too: no core gets a
/// second rank before every usable core has one. O(ranks + cores).
std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                        RoundRobinLevel level = RoundRobinLevel::node);

/// Every assignment of the ranks to distinct slots is equally likely. O(ranks + cores).
std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities,
                                   Random& random);

}  // namespace rankloom
