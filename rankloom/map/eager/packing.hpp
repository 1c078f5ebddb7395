// SPDX-License-Identifier: Apache-2.0
// map/eager: loads in bins, whatever anybody says to anybody: what tells whether a balance is possible at all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankloom {

struct Packing {
  std::vector<std::uint32_t> bin_of;  ///< By item.
  double heaviest = 0;                ///< Load of the heaviest bin.
};

/// Puts every item into a bin so that no bin's load is above `goal`; where it finds no such packing, the one with the
/// lightest heaviest bin that it met. `places`: how many items each bin may hold; they must suffice. First fit by
/// falling load (Johnson 1974), longest first onto the lightest (Graham 1969) with exchanges, a bounded exact search
/// for few items, and MULTIFIT (Coffman, Garey, Johnson 1978), until one of them reaches the goal. O(n log n + bins)
/// each, up to the exchanges.
Packing pack(std::span<const double> loads, std::span<const std::uint32_t> places, double goal);

/// Lightens the heaviest bin by a move to, or an exchange with, another bin, until none is above the goal or none can
/// be lightened so. Touches no bin unless that helps.
void even_out(std::span<const double> loads, std::span<const std::uint32_t> places, double goal, Packing& packing);

}  // namespace rankloom
