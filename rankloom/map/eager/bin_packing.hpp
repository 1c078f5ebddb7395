// SPDX-License-Identifier: Apache-2.0
// map/eager: bin packing of the loads, regardless of the traffic. It tells whether a balanced placement exists.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankloom {

struct Packing {
  std::vector<std::uint32_t> bin_of;  ///< By item.
  double max_load = 0;                ///< The largest load of a bin.
};

/// A packing in which no bin's load exceeds `goal`; if none is found, the packing with the smallest maximum load that
/// was found. `max_items`: the most items of each bin; their sum must suffice. The methods are tried in this order
/// until one reaches the goal: first-fit decreasing (Johnson 1974), longest processing time first (LPT, Graham 1969)
/// with exchanges, an exact search with a step limit for few items, and MULTIFIT (Coffman, Garey, Johnson 1978). O(n
/// log n + bins) each, apart from the exchanges.
Packing pack_bins(std::span<const double> loads, std::span<const std::uint32_t> max_items, double goal);

/// Reduces the load of the heaviest bin by moves to other bins and exchanges with them, until no bin exceeds the goal
/// or the heaviest bin cannot be improved.
void balance_bins(std::span<const double> loads, std::span<const std::uint32_t> max_items, double goal,
                  Packing& packing);

}  // namespace rankloom
