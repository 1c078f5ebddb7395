// SPDX-License-Identifier: Apache-2.0
// core/text: sizes of memory such as "64M" in powers of 1024. Uses only headers of the standard library, for libraries
// that are loaded into other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankloom {

/// "8192", "64k", "64M" or "1G" as bytes; a size of 2^63 or more becomes 2^63. Nothing for any other text: blanks,
/// signs and characters after the unit are errors.
constexpr std::optional<std::uint64_t> parse_binary_size(std::string_view text) {
  constexpr std::uint64_t max = std::uint64_t{1} << 63;
  constexpr std::string_view units = "KMG";
  int shift = 0;
  if (!text.empty()) {
    const char last = text.back();
    const auto unit = units.find(last >= 'a' && last <= 'z' ? static_cast<char>(last - 'a' + 'A') : last);
    if (unit != std::string_view::npos) {
      shift = 10 * (static_cast<int>(unit) + 1);
      text.remove_suffix(1);
    }
  }
  if (text.empty()) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number > max / 16 ? max : number * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return number > max >> shift ? max : number << shift;
}

}  // namespace rankloom
