// SPDX-License-Identifier: Apache-2.0
// report/drawing: a picture as a list of rectangles, lines and texts, each with a meaning. The terminal and SVG back
// ends choose how each meaning looks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankloom {

/// What an item stands for.
enum class Meaning : std::uint8_t {
  title,      ///< Of the picture.
  label,      ///< A label next to an item.
  note,       ///< A less important text.
  container,  ///< A part of a machine that contains others: switch, group, package.
  node,
  core,    ///< `value` is 1 when a rank is placed on the core.
  device,  ///< A GPU or a network card; `value` is 1 when a rank uses it.
  wire,    ///< A link between nodes of a network.
  heat,    ///< Traffic; `value` from 0, very little, to 1, the maximum.
  border,
  before,      ///< A value of the default placement.
  after,       ///< A value of the mapping.
  neutral,     ///< A value of neither placement.
  job,         ///< The nodes of a job over time; `value` is its number.
  shared_job,  ///< The same for a job that shared a link or router with another.
  phase,       ///< An interval of time; `value` is its kind.
  mark,        ///< A point in time.
};

/// Coordinates and sizes are columns and rows of a terminal; other back ends can use fractions.
struct DisplayItem {
  enum class Kind : std::uint8_t { rectangle, line, text };
  enum class Align : std::uint8_t { left, middle, right };
  Kind kind = Kind::rectangle;
  Meaning meaning = Meaning::label;
  double x = 0, y = 0;  ///< Upper left corner; for a text, the row and the alignment position.
  double width = 0, height = 0;
  std::string text = {};  ///< The text; for a rectangle, the text inside it.
  double value = 0;
  Align align = Align::left;
  std::string about = {};  ///< The tooltip.
};

struct DisplayList {
  double width = 0, height = 0;
  std::vector<DisplayItem> items;

  void rectangle(Meaning meaning, double x, double y, double w, double h, double value = 0, std::string text = {},
                 std::string about = {}) {
    items.push_back({DisplayItem::Kind::rectangle, meaning, x, y, w, h, std::move(text), value,
                     DisplayItem::Align::left, std::move(about)});
  }
  void line(Meaning meaning, double x, double y, double w, double h) {
    items.push_back({DisplayItem::Kind::line, meaning, x, y, w, h});
  }
  void text(Meaning meaning, double x, double y, std::string words,
            DisplayItem::Align align = DisplayItem::Align::left) {
    items.push_back({DisplayItem::Kind::text, meaning, x, y, 0, 1, std::move(words), 0, align});
  }
};

/// One picture of a report.
struct Drawing {
  std::string name;   ///< The file name: "heat-before".
  std::string title;  ///< A sentence above it.
  DisplayList list;
};

}  // namespace rankloom
