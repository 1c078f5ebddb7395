// SPDX-License-Identifier: Apache-2.0
// capture: what the readers of all text formats share: how they fail, and how far they believe a header.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/scanner.hpp"

namespace rankloom {

/// A rank costs memory even if nothing else is said of it. A header may claim this many ranks for nothing; more must be
/// backed by as many bytes of file.
inline constexpr std::uint64_t unproven_ranks = std::uint64_t{1} << 22;
/// Ranks have 32-bit numbers.
inline constexpr std::uint64_t largest_rank_count = 0xffff'fffe;

/// No amount is larger, so that no sum or cost can overflow.
inline constexpr double largest_amount = 1e100;

/// The text is wrong at this place.
inline Failure wrong(const FileContents& file, const char* place, std::string what, std::string hint) {
  return fail(Code::bad_input, at(file.name(), line_of(file.view(), place)), std::move(what), std::move(hint));
}
inline Failure wrong(const FileContents& file, const Scanner& scanner, std::string what, std::string hint) {
  return wrong(file, scanner.place(), std::move(what), std::move(hint));
}

/// Takes an amount of traffic or work: finite, not negative, not absurd. Says why not.
inline Result<double> take_amount(const FileContents& file, Scanner& scanner, std::string_view what) {
  const Scanner before = scanner;
  double value = 0;
  if (!scanner.take_number(value)) {
    return wrong(file, before, fmt::format("\"{}\" is not a finite number; here stands the {}", before.word(), what),
                 "every amount is a plain decimal number such as 0, 12.5 or 3e9");
  }
  if (value < 0) {
    return wrong(file, before, fmt::format("the {} is negative: {}", what, before.word()),
                 "traffic and work cannot be less than 0");
  }
  if (value > largest_amount) {
    return wrong(file, before, fmt::format("the {} is too large: {}", what, before.word()),
                 "no program sends 1e100 bytes; check the number");
  }
  return value;
}

/// Refuses a number of ranks that is zero, too large for 32 bits, or not backed by the file's size.
inline Result<std::uint32_t> check_rank_count(const FileContents& file, const char* place, std::uint64_t ranks) {
  if (ranks == 0) return wrong(file, place, "no ranks", "a program has at least one rank");
  if (ranks > largest_rank_count) {
    return wrong(file, place, fmt::format("{} ranks are too many", ranks),
                 fmt::format("at most {} can be held", largest_rank_count));
  }
  if (ranks > unproven_ranks && ranks > file.view().size()) {
    return wrong(file, place, fmt::format("{} ranks in a file of {} bytes", ranks, file.view().size()),
                 "check the number of ranks; a file of this size cannot speak of so many");
  }
  return static_cast<std::uint32_t>(ranks);
}

inline Imported imported(CommGraph graph, const FileContents& file, std::string_view format) {
  Imported result;
  result.profile.point_to_point = std::move(graph);
  result.profile.origin["file"] = file.name();
  result.profile.origin["format"] = format;
  result.format = format;
  return result;
}

}  // namespace rankloom
