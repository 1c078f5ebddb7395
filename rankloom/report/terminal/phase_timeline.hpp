// SPDX-License-Identifier: Apache-2.0
// report: phases of a run as a line of letters, with marks below where ranks were moved.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankloom/place/online/phase_detector.hpp"

namespace rankloom {

/// "AAAAABBBBAAA" and "^    ^   ^" below it, one letter for each equal piece of time; '.' where nothing was said yet.
std::string phase_timeline(const std::vector<OnlinePhase>& phases, const std::vector<double>& moves, double seconds,
                           std::size_t width = 72, std::size_t indent = 2);

}  // namespace rankloom
