// SPDX-License-Identifier: Apache-2.0
// capture/import: the layout of the numbers at the beginning of a text, which distinguishes formats without a magic
// word. docs/formats.md describes which format is chosen if a text fits several.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankloom {

/// Examines at most the first 256 KiB. Lines that start with # or % are comments.
struct TextLayout {
  explicit TextLayout(std::string_view text);

  std::vector<std::size_t> line_lengths;  ///< Numbers in each of the first eight nonempty lines.
  std::array<double, 4> first_numbers{};  ///< Of the first line.
  bool first_line_is_integral = true;
  bool line_starts_are_integral = true;  ///< The first two numbers of every line are integers.
  std::uint64_t nonempty_lines = 0;
  std::uint64_t all_lines = 0;
  bool has_more = false;  ///< The text is longer than the examined part, or contains something else than numbers.
  std::optional<std::uint64_t> total;  ///< Numbers in the text, if all of it was examined.

  /// The first line can be a METIS header.
  bool has_metis_header() const;
  /// The examined part has as many rows and numbers as the METIS header announces.
  bool matches_metis_header() const;
  /// n lines of n numbers, in a text that was examined completely.
  bool is_square() const;
  /// More lines of 3, 4 or 6 numbers than a square matrix has, each of which begins with two integers.
  bool has_pair_rows() const;
};

}  // namespace rankloom
