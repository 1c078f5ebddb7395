// SPDX-License-Identifier: Apache-2.0
// capture: what a text of numbers looks like, from its first lines, for telling apart the formats that have no magic
// word. docs/formats.md says who wins where a text fits several.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace rankloom {

/// Looks at no more than the first 256 KiB. Lines that start with # or % are comments.
struct Shape {
  explicit Shape(std::string_view text);

  std::vector<std::size_t> words;      ///< In each of the first lines that are not empty; at most eight lines.
  std::array<double, 4> first{};       ///< The first numbers of the first line.
  bool whole_first_line = true;        ///< Its numbers are whole.
  bool whole_starts = true;            ///< The first two numbers of every line are whole.
  std::uint64_t full_lines = 0;        ///< Lines that are not empty.
  std::uint64_t all_lines = 0;         ///< With the empty ones.
  bool goes_on = false;                ///< There is more than was looked at, or something that is no number.
  std::optional<std::uint64_t> total;  ///< Numbers in all, when all of the text was looked at.

  /// A METIS header, by its first line alone.
  bool metis_header() const;
  /// … and there are as many rows and numbers as it says, as far as one can see.
  bool metis_body() const;
  /// n lines of n numbers, in a text so short that all of it was looked at.
  bool square() const;
  /// More lines of 3, 4 or 6 numbers than a square has, each starting with two whole numbers.
  bool pair_rows() const;
};

}  // namespace rankloom
