// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a population of good assignments, crossed and improved by tabu search.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/random.hpp"
#include "rankloom/map/deep_search/assignment_tables.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// Memetic search after Benlic and Hao (2015): a child has what its parents agree on, and of the rest what either has;
/// a short tabu search improves it; it replaces the worst if it is better and new. When the population no longer
/// changes, another one begins, with longer tabu searches. Takes `steps` steps of tabu search in all; the pulse ends it
/// earlier. `starts` are assignments (items on seats) to begin with; the best of all that were seen is returned.
std::vector<std::uint32_t> memetic_search(const AssignmentTables& tables,
                                          const std::vector<std::vector<std::uint32_t>>& starts, std::uint64_t steps,
                                          Random& random, Pulse& pulse);

}  // namespace rankloom
