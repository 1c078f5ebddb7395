// SPDX-License-Identifier: Apache-2.0
// discover/probe: which ranks exchange messages in which round: the circle method of round-robin tournaments. Wang 2015
// (section 4.2, single-circle-match) uses it to measure every pair of processes once, in rounds of disjoint pairs.
#pragma once

#include <cstdint>

namespace rankloom {

/// The number of rounds for all pairs of n ranks. If n is odd, each rank pauses in one round.
constexpr std::int64_t circle_rounds(std::int64_t n) {
  return n < 2 ? 0 : n + n % 2 - 1;
}

/// The partner of a rank in a round; -1 if the rank pauses.
constexpr std::int64_t circle_partner(std::int64_t rank, std::int64_t round, std::int64_t n) {
  const std::int64_t positions = n + n % 2, rotating = positions - 1;  // the last position is fixed
  std::int64_t partner = 0;
  if (rank == positions - 1) {
    partner = round;
  } else {
    partner = ((2 * round - rank) % rotating + rotating) % rotating;
    if (partner == rank) partner = positions - 1;
  }
  return partner < n ? partner : -1;
}

}  // namespace rankloom
