// SPDX-License-Identifier: Apache-2.0
// map/local_search: pair exchange as a step of other mappers.
#pragma once

#include <cstdint>

#include "rankloom/map/local_search/seating.hpp"

namespace rankloom {

/// The tries of `pe-500k`.
inline constexpr std::uint64_t pair_exchange_tries = 500'000;

/// `tries` times: a random rank exchanges its place with a random seat's if that gains. The seed decides the pairs
/// alone, so the mapper `pair-exchange` and this do the same from the same start. Ends early when the pulse says so.
void exchange_random_pairs(Seating& seating, std::uint64_t tries, std::uint64_t seed, Pulse& pulse);

}  // namespace rankloom
