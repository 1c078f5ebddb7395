// SPDX-License-Identifier: Apache-2.0
// map/local_search: PE, the pair exchange, as a step of other mappers.
#pragma once

#include <cstdint>

#include "rankloom/map/local_search/placement_state.hpp"

namespace rankloom {

/// The number of trials of `pe-500k`, the baseline of Wang 2015, 5.1.3.
inline constexpr std::uint64_t pair_exchange_trials = 500'000;

/// `trials` times: exchanges a random rank with the occupant of a random slot if the cost decreases. The pairs depend
/// only on the seed, so the mapper `pair-exchange` and this function give the same result from the same start.
void exchange_random_pairs(PlacementState& state, std::uint64_t trials, std::uint64_t seed,
                           StopCondition& stop_condition);

}  // namespace rankloom
