// SPDX-License-Identifier: Apache-2.0
// discover: who talks to whom in which round: the circle method of round-robin tournaments, by which Wang 2015
// (section 4.2, single-circle-match) lets every pair of processes meet once, in rounds of disjoint pairs.
#pragma once

#include <cstdint>

namespace rankloom {

/// Rounds in which all pairs of n meet; each rank sits out one of them when n is odd.
constexpr std::int64_t circle_rounds(std::int64_t n) {
  return n < 2 ? 0 : n + n % 2 - 1;
}

/// The partner of a rank in a round; -1: it sits out.
constexpr std::int64_t circle_partner(std::int64_t rank, std::int64_t round, std::int64_t n) {
  const std::int64_t seats = n + n % 2, turning = seats - 1;  // the last seat does not turn
  std::int64_t partner = 0;
  if (rank == seats - 1) {
    partner = round;
  } else {
    partner = ((2 * round - rank) % turning + turning) % turning;
    if (partner == rank) partner = seats - 1;
  }
  return partner < n ? partner : -1;
}

}  // namespace rankloom
