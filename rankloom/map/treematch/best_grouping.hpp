// SPDX-License-Identifier: Apache-2.0
// map/treematch: the best grouping of a few elements, found by looking at all.
#pragma once

#include <cstdint>

#include "rankloom/map/affinity.hpp"

namespace rankloom {

inline constexpr std::uint32_t max_optimal_size = 10;

/// At most `groups` groups of at most `size` elements, with the most traffic inside; of equals the one with fewer
/// groups comes first, then the one whose groups have the lower members. Empty groups follow. O(3^elements).
Groups best_grouping(const Affinity& affinity, std::uint32_t size, std::uint32_t groups);

}  // namespace rankloom
