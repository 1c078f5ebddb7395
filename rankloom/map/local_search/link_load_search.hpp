// SPDX-License-Identifier: Apache-2.0
// map/local_search: a search that reduces the largest link load of a routed network.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// The largest link load alone does not guide a search: it hardly ever changes by one exchange, because several links
/// are equally busy. So the search minimises the sum of the 8th powers of all link loads, which the busiest links
/// dominate: a descent around partners (NeighbourhoodDescent), then threshold accepting (Dueck and Scheuer 1990) with
/// `trials` moves and exchanges. Every other trial moves a rank whose traffic uses the busiest link. Returns the
/// placement with the smallest largest load that was seen, the start included. A trial takes O(degree x route length).
/// Ends early after 60 trials per rank without a gain.
std::vector<Core> reduce_link_loads(const MapProblem& problem, std::vector<Core> start, std::uint64_t trials,
                                    std::uint64_t seed, StopCondition& stop_condition);

}  // namespace rankloom
