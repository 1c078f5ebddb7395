// SPDX-License-Identifier: Apache-2.0
// capture/import: functions that all readers of text formats share: errors with a line number, amounts, and the check
// of a header's number of ranks.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/core/text/scanner.hpp"

namespace rankloom {

/// Every rank needs memory, even without traffic. A header may announce this many ranks; for more, the file must have
/// at least one byte per rank.
inline constexpr std::uint64_t max_unbacked_ranks = std::uint64_t{1} << 22;
/// Ranks have 32-bit numbers.
inline constexpr std::uint64_t max_rank_count = 0xffff'fffe;

/// An error at this position of the text.
inline Failure input_error(const FileContents& file, const char* position, std::string what, std::string hint) {
  return fail(Code::bad_input, at(file.name(), line_of(file.view(), position)), std::move(what), std::move(hint));
}
inline Failure input_error(const FileContents& file, const Scanner& scanner, std::string what, std::string hint) {
  return input_error(file, scanner.position(), std::move(what), std::move(hint));
}

/// Takes an amount of traffic or work: finite, not negative, at most max_amount.
inline Result<double> take_amount(const FileContents& file, Scanner& scanner, std::string_view what) {
  const Scanner before = scanner;
  double value = 0;
  if (!scanner.take_number(value)) {
    return input_error(file, before,
                       fmt::format("the {} is not a finite number: \"{}\"", what, before.token_for_message()),
                       "write a decimal number such as 0, 12.5 or 3e9");
  }
  if (value < 0) {
    return input_error(file, before, fmt::format("the {} is negative: {}", what, before.token_for_message()),
                       "write a number that is not negative");
  }
  if (value > max_amount) {
    return input_error(file, before, fmt::format("the {} is too large: {}", what, before.token_for_message()),
                       "the maximum is 1e100");
  }
  return value;
}

/// Rejects a number of ranks that is 0, too large for 32 bits, or too large for the size of the file.
inline Result<std::uint32_t> check_rank_count(const FileContents& file, const char* position, std::uint64_t ranks) {
  if (ranks == 0) return input_error(file, position, "the number of ranks is 0", "a program has at least one rank");
  if (ranks > max_rank_count) {
    return input_error(file, position, fmt::format("{} ranks are too many", ranks),
                       fmt::format("the maximum is {}", max_rank_count));
  }
  if (ranks > max_unbacked_ranks && ranks > file.view().size()) {
    return input_error(file, position, fmt::format("{} ranks in a file of {} bytes", ranks, file.view().size()),
                       "check the number of ranks: a file of this size cannot describe so many");
  }
  return static_cast<std::uint32_t>(ranks);
}

inline Imported make_imported(CommGraph graph, const FileContents& file, std::string_view format) {
  Imported result;
  result.profile.point_to_point = std::move(graph);
  result.profile.origin["file"] = file.name();
  result.profile.origin["format"] = format;
  result.format = format;
  return result;
}

}  // namespace rankloom
