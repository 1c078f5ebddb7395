// SPDX-License-Identifier: Apache-2.0
// report/layout: a picture as a list of rectangles, lines and words, each with what it means. Layouts make it, the
// terminal and the SVG file draw it: what a thing looks like is theirs to say.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace rankloom {

/// What an item stands for.
enum class Meaning : std::uint8_t {
  title,      ///< Of the picture.
  label,      ///< Words beside something.
  note,       ///< Words of less weight.
  container,  ///< A part of a machine with parts inside: switch, group, package.
  node,
  core,  ///< A place for a rank; `value` 1 when a rank sits there.
  wire,  ///< Between nodes of a network.
  heat,  ///< Traffic; `value` from 0, nearly nothing, to 1, the most.
  border,
  before,      ///< A figure of the default order.
  after,       ///< A figure of the mapping.
  figure,      ///< A figure of neither.
  job,         ///< Nodes that a job has for a time; `value` is its number.
  shared_job,  ///< The same of a job that met another on a link or router.
  phase,       ///< A stretch of time; `value` is its kind.
  mark,        ///< A moment.
};

/// Places and sizes are in characters of a terminal: columns and rows. A picture that is not of characters may draw
/// between them.
struct DisplayItem {
  enum class Kind : std::uint8_t { rectangle, line, text };
  enum class Align : std::uint8_t { left, middle, right };
  Kind kind = Kind::rectangle;
  Meaning meaning = Meaning::label;
  double x = 0, y = 0;  ///< Left upper corner; of a text, the row and where it is aligned.
  double width = 0, height = 0;
  std::string text = {};  ///< The text; of a rectangle, words inside it.
  double value = 0;
  Align align = Align::left;
  std::string about = {};  ///< Shown where one can point at things.
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
  std::string name;   ///< Of its file: "heat-before".
  std::string title;  ///< A sentence above it.
  DisplayList list;
};

}  // namespace rankloom
