// SPDX-License-Identifier: Apache-2.0
// report: text tables for the terminal: columns as wide as they need to be, numbers to the right.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// Columns that a text takes on a terminal: its code points.
std::size_t display_width(std::string_view text);

/// The text with blanks added on one side up to the width; longer texts stay as they are.
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);

/// The text broken at blanks into lines of at most `width` columns; words longer than that keep a line of their own.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// Missing cells at the end are empty.
  void row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }

  /// One line for the titles (none when all are empty) and one for each row, each indented and ended by a newline.
  /// Columns with nothing in them are left out.
  std::string text(std::size_t indent = 2) const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   std::size_t indent) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rankloom
