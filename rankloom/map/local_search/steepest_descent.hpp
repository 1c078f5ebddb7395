// SPDX-License-Identifier: Apache-2.0
// map/local_search: always the best exchange of all; for small programs.
#pragma once

#include "rankloom/map/local_search/exchange_table.hpp"

namespace rankloom {

/// Takes the best of all exchanges and moves until none gains; then looks beyond the local optimum with a *chain* (Kernighan,
/// Lin 1970): goes on with the best exchange even if it loses, never touching a rank twice, and returns to the cheapest
/// placement on the way; if that is a gain, all begins again. A chain ends `chain` steps after its cheapest placement;
/// 0: no chains. Only for problems that an ExchangeTable fits.
void descend_steepest(Seating& seating, const Senders& senders, std::uint64_t chain, Pulse& pulse);

}  // namespace rankloom
