// SPDX-License-Identifier: Apache-2.0
// report: text for SVG, HTML, CSV and the terminal: escaping.
#pragma once

#include <string>
#include <string_view>

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

/// A value of a CSV line, quoted if necessary (RFC 4180).
inline std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

}  // namespace rankloom
