// SPDX-License-Identifier: Apache-2.0
// map/local_search: moving a rank costs something: a placement that stays near the start where leaving does not pay.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// Ranks that are on different cores in two placements.
std::uint64_t moved_ranks(std::span<const Core> from, std::span<const Core> to);

/// What is minimised: the objective, and MapProblem::move_price for each rank that is not on its core of the start.
double priced_cost(const MapProblem& problem, std::span<const Core> core_of);

/// The same placement but for names: objects of the machine that are alike change places, so that more ranks are where
/// they were at the start. Top down, each time those first that share most ranks. O(ranks x levels).
std::vector<Core> renamed_towards_start(const MapProblem& problem, std::vector<Core> core_of);

/// Of a placement, what pays: objects are renamed, then ranks go home, one by one or several in a chain of exchanges,
/// where that costs less than their moves. The priced cost of the result is neither above that of `core_of` nor above
/// that of the start. O(ranks x degree) a pass, a few passes; between two chains it looks at the clock.
std::vector<Core> worth_moving(const MapProblem& problem, std::vector<Core> core_of, const Deadline& deadline);

}  // namespace rankloom
