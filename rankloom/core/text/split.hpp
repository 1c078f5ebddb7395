// SPDX-License-Identifier: Apache-2.0
// core/text: the parts of a text between separators.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// "a,b,,c" at commas: "a", "b", "", "c". Empty text has no parts, and a separator at the end adds none.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace rankloom
