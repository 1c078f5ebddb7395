// SPDX-License-Identifier: Apache-2.0
// map/local_search: always the best exchange of all; for small programs.
#pragma once

#include "rankloom/core/random.hpp"
#include "rankloom/map/local_search/exchange_table.hpp"

namespace rankloom {

/// Takes the best of all exchanges and moves until none gains. Then, `kicks` times, makes a few exchanges at random,
/// goes down again, and goes back unless the end is at least as good as before (iterated local search: Lourenço,
/// Martin, Stützle 2003). No kicks under the congestion model, where every step is as dear as a look at all pairs.
/// Where a table of all exchanges would be too large, it goes down by NeighbourhoodDescent instead, and that is all.
void descend_steepest(Seating& seating, const Senders& senders, std::uint64_t kicks, Random& random, Pulse& pulse);

}  // namespace rankloom
