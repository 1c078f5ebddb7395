// SPDX-License-Identifier: Apache-2.0
// map/local_search: remapping with a migration cost: ranks leave their start core only where the gain exceeds that
// cost.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Ranks that are on different cores in two placements.
std::uint64_t moved_ranks(std::span<const Core> from, std::span<const Core> to);

/// The objective plus MapProblem::migration_cost for each rank that is not on its start core.
double cost_with_migration(const MapProblem& problem, std::span<const Core> core_of);

/// An equivalent placement with fewer migrations: symmetric objects of the machine are permuted so that more ranks are
/// on their start cores. Top down; objects are matched greedily by the number of ranks in common. O(ranks x levels).
std::vector<Core> permute_towards_start(const MapProblem& problem, std::vector<Core> core_of);

/// Keeps only migrations that pay: permutes symmetric objects, then returns ranks to their start cores, singly or in
/// ejection chains, where that saves more migration cost than it adds communication cost. The cost with migration of
/// the result is neither above that of `core_of` nor above that of the start. O(ranks x degree) per pass, a few passes;
/// the deadline is checked between chains.
std::vector<Core> keep_worthwhile_migrations(const MapProblem& problem, std::vector<Core> core_of,
                                             const Deadline& deadline);

}  // namespace rankloom
