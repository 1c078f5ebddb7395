// SPDX-License-Identifier: Apache-2.0
// report/terminal: text tables. Columns are as wide as their contents; numbers are right-aligned. A table that is wider
// than the terminal is laid out for it, and nothing is left out.
#pragma once

#include <cstddef>
#include <limits>
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

/// The width of a table whose rows are single lines.
inline constexpr std::size_t unlimited_width = std::numeric_limits<std::size_t>::max();
/// The width of tables that are not printed to a terminal.
inline constexpr std::size_t default_width = 100;
/// Narrower terminals get tables of this width.
inline constexpr std::size_t min_width = 40;

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns);

  /// Missing cells at the end are empty.
  void row(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }

  /// Lines of at most `width` columns, each indented and terminated by a newline: the titles (none when all are empty),
  /// then the rows. Empty columns are omitted. If the table is wider, (1) titles, then texts continue on further
  /// lines, the widest columns first, at spaces and inside words only if a word does not fit; (2) columns that still do
  /// not fit follow as a second table, in which the first column is repeated. Control characters in cells are replaced.
  std::string text(std::size_t width, std::size_t indent = 2) const;

 private:
  /// A column with its width on one line, that of its cells with a title on several lines, and the width that it keeps.
  struct Measure {
    std::size_t column = 0, natural = 0, whole_cells = 0, least = 0;
  };
  std::vector<Measure> measures(std::size_t available) const;
  /// The columns that are printed next to each other.
  std::vector<std::vector<Measure>> parts(std::size_t available) const;
  static std::vector<std::size_t> shorten(const std::vector<Measure>& part, std::size_t available);
  std::string lines(const std::vector<std::string>& cells, const std::vector<Measure>& part,
                    const std::vector<std::size_t>& widths, std::size_t indent, bool is_title) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace rankloom
