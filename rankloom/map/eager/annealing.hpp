// SPDX-License-Identifier: Apache-2.0
// map/eager: a search that leaves local optima, for placements whose loads leave little freedom.
#pragma once

#include <cstdint>

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/load_limit.hpp"
#include "rankloom/map/local_search/seating.hpp"
#include "rankloom/map/pulse.hpp"

namespace rankloom {

/// What happens to a change that brings a core above the limit.
enum class Overload : std::uint8_t {
  priced,  ///< Its overload counts as cost, at a price that rises until it hardly ever pays. Some may be left.
  barred,  ///< It is not made.
};

/// Simulated annealing (Kirkpatrick, Gelatt, Vecchi 1983) over moves and exchanges, most of them near a rank's
/// partners: a dearer placement is taken with probability exp(-delta / temperature), and the temperature falls from
/// where many changes pass to where hardly any does. O(degree + ranks on a core) for each try.
void anneal(Seating& seating, LoadLimit& limit, Overload overload, std::uint64_t tries, Random& random, Pulse& pulse);

}  // namespace rankloom
