// SPDX-License-Identifier: Apache-2.0
// map/eager: simulated annealing, for placements where the load limit leaves little freedom for a descent.
#pragma once

#include <cstdint>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/placement_state.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// How the search treats a change that overloads a core.
enum class Overload : std::uint8_t {
  penalised,  ///< The overload adds a penalty that grows during the search. Some overload may remain.
  forbidden,  ///< The change is rejected.
};

/// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) over moves and exchanges, most of them close to a rank's
/// partners. A change that increases the cost is accepted with probability exp(-delta / temperature); the temperature
/// decreases from where many changes are accepted to where hardly any is. O(degree + ranks on a core) per trial.
void anneal(PlacementState& state, LoadLimit& limit, Overload overload, std::uint64_t trials, Random& random,
            StopCondition& stop_condition);

}  // namespace rankloom
