// SPDX-License-Identifier: Apache-2.0
// report/terminal: text tables.
#include "rankloom/report/terminal/table.hpp"

#include <algorithm>
#include <utility>

#include "rankloom/core/text/control_characters.hpp"

namespace rankloom {

namespace {

constexpr std::size_t gap = 2;             // spaces between columns
constexpr std::size_t hanging_indent = 2;  // of the further lines of a cell in the first column

/// The first `width` columns of the text, which are removed from it.
std::string take(std::string_view& text, std::size_t width) {
  std::size_t end = 0;
  for (std::size_t taken = 0; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0U) != 0x80U && taken++ == width) break;
  }
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end);
  return std::string(part);
}

/// Removes the first word and returns it. A number and its unit are one word.
std::string_view take_word(std::string_view& text) {
  std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view first = text.substr(0, end);
  if (!first.empty() && first.find_first_not_of("0123456789.,") == std::string_view::npos && first.back() != ',' &&
      end + 1 < text.size() && text[end + 1] != ' ')
    end = std::min(text.find(' ', end + 1), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(text.size(), end + 1));
  return word;
}

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    longest = std::max(longest, display_width(word));
  }
  return longest;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string pad_right(std::string text, std::size_t width) {
  text.append(width - std::min(width, display_width(text)), ' ');
  return text;
}

std::string pad_left(std::string text, std::size_t width) {
  text.insert(0, width - std::min(width, display_width(text)), ' ');
  return text;
}

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string line;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!line.empty() && display_width(line) + 1 + display_width(word) > width) {
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) line += ' ';
    line += word;
  }
  if (!line.empty() || lines.empty()) lines.push_back(std::move(line));
  return lines;
}

namespace {

/// The cell in lines of at most `width` columns; words are broken if they are longer. The indentation of the cell
/// stays.
std::vector<std::string> fit(std::string_view cell, std::size_t width, std::size_t hanging) {
  if (display_width(cell) <= width) return {std::string(cell)};
  std::size_t indent = std::min(cell.find_first_not_of(' '), cell.size());
  if (indent >= width / 2) indent = 0;
  hanging = indent + hanging < width / 2 ? indent + hanging : indent;
  std::vector<std::string> lines;
  std::string line(indent, ' ');
  bool has_word = false;
  const auto next_line = [&] {
    lines.push_back(std::exchange(line, std::string(hanging, ' ')));
    has_word = false;
  };
  std::string_view text = cell;
  while (!text.empty()) {
    std::string_view word = take_word(text);
    if (word.empty()) continue;
    if (has_word && display_width(line) + 1 + display_width(word) > width) next_line();
    if (has_word) line += ' ';
    while (display_width(line) + display_width(word) > width) {
      line += take(word, width - display_width(line));
      next_line();
    }
    line += word;
    has_word = true;
  }
  if (has_word) lines.push_back(std::move(line));
  return lines;
}

}  // namespace

/// Widths that together have at most `available` columns: titles are shortened first, then texts, the widest first, and
/// none below its minimum.
std::vector<std::size_t> Table::shorten(const std::vector<Measure>& part, std::size_t available) {
  std::vector<std::size_t> widths(part.size());
  std::size_t sum = 0;
  const auto limit_widths = [&](std::size_t Measure::*most, std::size_t Measure::*least) {
    std::size_t limit = available;
    do {
      sum = 0;
      for (std::size_t i = 0; i < part.size(); ++i) {
        widths[i] = std::max(part[i].*least, std::min(part[i].*most, limit));
        sum += widths[i];
      }
    } while (sum > available && limit-- > 1);
  };
  limit_widths(&Measure::natural, &Measure::whole_cells);
  if (sum > available) limit_widths(&Measure::whole_cells, &Measure::least);
  for (std::size_t i = 0; i < part.size() && sum < available; ++i) {
    const std::size_t more = std::min(part[i].natural - widths[i], available - sum);
    widths[i] += more;
    sum += more;
  }
  return widths;
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.title = without_controls(column.title);
}

void Table::row(std::vector<std::string> cells) {
  for (std::string& cell : cells) cell = without_controls(cell);
  rows_.push_back(std::move(cells));
}

std::vector<Table::Measure> Table::measures(std::size_t available) const {
  std::vector<Measure> measures;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const Column& about = columns_[column];
    std::size_t cells_width = 0, word_width = 0;
    for (const auto& cells : rows_) {
      if (column >= cells.size()) continue;
      cells_width = std::max(cells_width, display_width(cells[column]));
      word_width = std::max(word_width, longest_word(cells[column]));
    }
    Measure measure{.column = column,
                    .natural = std::max(cells_width, display_width(about.title)),
                    .whole_cells = std::max(cells_width, longest_word(about.title))};
    // A number is not broken, unless it takes half of the width; a word is not, unless it takes a quarter.
    const std::size_t least =
        about.align == Align::right ? cells_width : std::max(available / 6, std::min(word_width, available / 4));
    measure.least = std::min({measure.natural, std::max(least, longest_word(about.title)), available / 2 - gap});
    if (measure.natural > 0) measures.push_back(measure);
  }
  return measures;
}

std::vector<std::vector<Table::Measure>> Table::parts(std::size_t available) const {
  const std::vector<Measure> all = measures(available);
  std::vector<std::vector<Measure>> parts;
  std::size_t taken = 0;
  for (const Measure& measure : all) {
    if (parts.empty() || (parts.back().size() > 1 && taken + measure.least > available)) {
      parts.emplace_back();
      taken = 0;
      if (parts.size() > 1) {
        parts.back().push_back(all.front());
        taken = all.front().least + gap;
      }
    }
    parts.back().push_back(measure);
    taken += measure.least + gap;
  }
  return parts;
}

std::string Table::lines(const std::vector<std::string>& cells, const std::vector<Measure>& part,
                         const std::vector<std::size_t>& widths, std::size_t indent, bool is_title) const {
  std::vector<std::vector<std::string>> fitted;
  std::size_t height = 1;
  for (std::size_t i = 0; i < part.size(); ++i) {
    const std::size_t column = part[i].column;
    const std::string_view cell = column < cells.size() ? cells[column] : std::string_view();
    fitted.push_back(fit(cell, widths[i], i == 0 && !is_title ? hanging_indent : 0));
    height = std::max(height, fitted.back().size());
  }
  std::string text;
  for (std::size_t row = 0; row < height; ++row) {
    std::string line(indent, ' ');
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t above = is_title ? height - fitted[i].size() : 0;
      std::string cell = row >= above && row - above < fitted[i].size() ? fitted[i][row - above] : std::string();
      if (i > 0) line.append(gap, ' ');
      line += columns_[part[i].column].align == Align::left ? pad_right(std::move(cell), widths[i])
                                                            : pad_left(std::move(cell), widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string Table::text(std::size_t width, std::size_t indent) const {
  const std::size_t available = std::max(width, min_width) - indent;
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool has_titles =
      std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); });
  std::string text;
  for (const std::vector<Measure>& part : parts(available)) {
    const std::vector<std::size_t> widths = shorten(part, available - gap * (part.size() - 1));
    if (!text.empty()) text += "\n";
    if (has_titles) text += lines(titles, part, widths, indent, true);
    for (const auto& cells : rows_) text += lines(cells, part, widths, indent, false);
  }
  return text;
}

}  // namespace rankloom
