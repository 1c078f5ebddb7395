// SPDX-License-Identifier: Apache-2.0
// report: times of jobs, which may take days.
#pragma once

#include <string>

#include <fmt/format.h>

#include "rankloom/core/units.hpp"

namespace rankloom {

/// "12.3 ms", "46.9 min", "23.2 h"
inline std::string format_duration(double seconds) {
  constexpr double two_hours = 7200;
  return seconds < two_hours ? format_seconds(seconds) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace rankloom
