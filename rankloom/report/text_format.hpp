// SPDX-License-Identifier: Apache-2.0
// report: text for SVG, HTML and the terminal: escaping, durations.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "rankloom/core/text/units.hpp"

namespace rankloom {

inline std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '&':
        result += "&amp;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= ' ' || c == '\n' || c == '\t')
          result += c;  // XML allows no other control characters
    }
  }
  return result;
}

/// "12.3 ms", "46.9 min", "23.2 h"
inline std::string format_duration(double seconds) {
  constexpr double two_hours = 7200;
  return seconds < two_hours ? format_seconds(seconds) : fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace rankloom
