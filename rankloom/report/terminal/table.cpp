// SPDX-License-Identifier: Apache-2.0
// report/terminal: text tables.
#include "rankloom/report/terminal/table.hpp"

#include <algorithm>

namespace rankloom {

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

std::string Table::line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths,
                        std::size_t indent) const {
  std::string text(indent, ' ');
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    const std::string cell = column < cells.size() ? cells[column] : std::string();
    if (widths[column] == 0) continue;
    if (text.size() > indent) text += "  ";
    text += columns_[column].align == Align::left ? pad_right(cell, widths[column]) : pad_left(cell, widths[column]);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::string Table::text(std::size_t indent) const {
  std::vector<std::string> titles;
  std::vector<std::size_t> widths;
  for (const Column& column : columns_) {
    titles.push_back(column.title);
    widths.push_back(display_width(column.title));
  }
  for (const auto& cells : rows_) {
    for (std::size_t column = 0; column < std::min(cells.size(), widths.size()); ++column) {
      widths[column] = std::max(widths[column], display_width(cells[column]));
    }
  }
  std::string text;
  if (std::any_of(titles.begin(), titles.end(), [](const std::string& title) { return !title.empty(); }))
    text += line(titles, widths, indent);
  for (const auto& cells : rows_) text += line(cells, widths, indent);
  return text;
}

}  // namespace rankloom
