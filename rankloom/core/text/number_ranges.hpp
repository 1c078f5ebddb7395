// SPDX-License-Identifier: Apache-2.0
// core/text: lists of numbers and ranges such as "0-3,8", as Linux and Slurm write CPU and node lists. Uses only the
// standard library, so that libraries that are loaded into other programs compile number_ranges.cpp themselves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

struct NumberRange {
  std::uint64_t first = 0;
  std::uint64_t last = 0;  ///< Inclusive; at least `first`.
  std::size_t digits = 1;  ///< As `first` is written: 3 for "007-012".
};

/// One number or range: "7" or "3-7". Nothing if the text is anything else or the range is empty.
std::optional<NumberRange> parse_number_range(std::string_view text);

/// The numbers of a list in the order of the text: "0-3,8" → 0 1 2 3 8. An empty text is an empty list. Nothing if the
/// text is malformed, contains a number above `max`, or more numbers than there are up to `max`; `error` then tells
/// why:
/// "\"3-x\" is not a number or a range".
std::optional<std::vector<std::uint32_t>> parse_number_ranges(std::string_view text,
                                                              std::uint32_t max = (std::uint32_t{1} << 20) - 1,
                                                              std::string* error = nullptr);

/// Writes runs of consecutive numbers as ranges: 0 1 2 3 8 → "0-3,8".
std::string format_number_ranges(std::span<const std::uint32_t> numbers);

}  // namespace rankloom
