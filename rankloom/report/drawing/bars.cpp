// SPDX-License-Identifier: Apache-2.0
// report/drawing: figures as bars.
#include <algorithm>
#include <cmath>

#include "rankloom/report/drawing/drawings.hpp"
#include "rankloom/report/table.hpp"

namespace rankloom {

Drawing draw_bars(std::string name, std::string title, const std::vector<BarRow>& rows, const DrawingOptions& options) {
  Drawing drawing{std::move(name), std::move(title), {}};
  double most = 0, label_width = 0, text_width = 0;
  for (const BarRow& row : rows) {
    most = std::max({most, row.before, row.after.value_or(0)});
    label_width = std::max(label_width, static_cast<double>(display_width(row.label)));
    text_width = std::max({text_width, static_cast<double>(display_width(row.before_text)),
                           static_cast<double>(display_width(row.after_text))});
  }
  const double left = label_width + 1;
  const double room = std::max(10.0, static_cast<double>(options.columns) - left - text_width - 1);
  DisplayList& list = drawing.list;
  double y = 0;
  const auto bar = [&](Meaning meaning, double value, const std::string& text) {
    const double length = most > 0 && value > 0 ? std::max(0.25, room * value / most) : 0;
    if (length > 0) list.rectangle(meaning, left, y, length, 1, value, {}, text);
    const double end = length > 0 ? left + std::max(1.0, std::round(length)) + 1 : left;
    list.text(Meaning::label, end, y, text);
    list.width = std::max(list.width, end + static_cast<double>(display_width(text)));
    ++y;
  };
  for (const BarRow& row : rows) {
    list.text(Meaning::label, label_width, y, row.label, DisplayItem::Align::right);
    bar(row.meaning, row.before, row.before_text);
    if (row.after) bar(Meaning::after, *row.after, row.after_text);
  }
  list.height = y;
  return drawing;
}

}  // namespace rankloom
