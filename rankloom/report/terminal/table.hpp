// SPDX-License-Identifier: Apache-2.0
// report/terminal: text tables. Columns are as wide as their contents; numbers are right-aligned.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rankloom {

/// The number of terminal columns of a text: its code points.
std::size_t display_width(std::string_view text);

/// The text padded with spaces to the width; longer texts are returned unchanged.
std::string pad_right(std::string text, std::size_t width);
std::string pad_left(std::string text, std::size_t width);

/// The text wrapped at spaces into lines of at most `width` columns; a longer word gets its own line.
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

  /// One line for the titles (none when all are empty) and one per row, each indented and terminated by a newline.
  /// Empty columns are omitted.
  std::string text(std::size_t indent = 2) const;

 private:
  std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                   std::size_t indent) const;
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rankloom
