// SPDX-License-Identifier: Apache-2.0
// map/multilevel: a better border between two sides, near the one there is.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/bisection.hpp"

namespace rankloom::multilevel {

/// Moves with rollback (Fiduccia, Mattheyses 1982), passes until one gains nothing, at most `passes`; then, if asked
/// for and where there is room, flows. A side that is too full is relieved; the cut never grows once both fit.
Bisection refined(const WeightedGraph& graph, const std::array<std::uint64_t, 2>& room,
                  std::vector<std::uint8_t> side_of, std::uint32_t passes, bool flows);

}  // namespace rankloom::multilevel
