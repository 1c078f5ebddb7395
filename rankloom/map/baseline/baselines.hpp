// SPDX-License-Identifier: Apache-2.0
// map/baseline: placements that do not look at the traffic; what every other mapper is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

std::unique_ptr<Mapper> make_block();
std::unique_ptr<Mapper> make_round_robin();
std::unique_ptr<Mapper> make_random();

/// One rank for each node in turn; nodes that are full are passed over. Inside a node the cores take turns too, so a
/// core gets its second rank when all cores of its node that can have one. O(ranks + cores).
std::vector<Core> round_robin_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities);

/// Every choice of distinct capacities for the ranks is equally likely. O(ranks + cores).
std::vector<Core> random_placement(std::uint32_t ranks, const Topology& topology, const Capacities& capacities, Random& random);

}  // namespace rankloom
