// SPDX-License-Identifier: Apache-2.0
// report/terminal: phases of a run as a line of letters, with marks below for migrations.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "rankloom/place/online/phase_detector.hpp"

namespace rankloom {

/// "AAAAABBBBAAA" and "^    ^   ^" below it: one letter per time interval; '.' before the first phase was detected.
std::string phase_timeline(const std::vector<OnlinePhase>& phases, const std::vector<double>& moves, double seconds,
                           std::size_t width = 72, std::size_t indent = 2);

}  // namespace rankloom
