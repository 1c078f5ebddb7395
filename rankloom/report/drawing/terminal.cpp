// SPDX-License-Identifier: Apache-2.0
// report/drawing: display lists as characters.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "rankloom/core/text/control_characters.hpp"
#include "rankloom/report/drawing/allocation_map.hpp"
#include "rankloom/report/drawing/backends.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

/// A grid of characters. Each cell contains one UTF-8 character and whether it is highlighted.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows) : columns_(columns), rows_(rows), places_(columns * rows) {}

  void put(std::ptrdiff_t x, std::ptrdiff_t y, std::string_view character, bool red = false) {
    if (!inside(x, y)) return;
    at(x, y) = {std::string(character), red};
  }
  bool is_free(std::ptrdiff_t x, std::ptrdiff_t y) { return inside(x, y) && at(x, y).text.empty(); }

  void write(std::ptrdiff_t x, std::ptrdiff_t y, std::string_view text) {
    const std::string shown = without_controls(text);
    text = shown;
    for (std::size_t begin = 0; begin < text.size(); ++x) {
      std::size_t end = begin + 1;
      while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
      put(x, y, text.substr(begin, end - begin));
      begin = end;
    }
  }

  std::string text(bool colours) const {
    std::string text;
    for (std::size_t y = 0; y < rows_; ++y) {
      std::size_t end = columns_;
      while (end > 0 && places_[y * columns_ + end - 1].text.empty()) --end;
      if (end > 0) text += "  ";
      for (std::size_t x = 0; x < end; ++x) {
        const Place& place = places_[y * columns_ + x];
        const std::string_view shown = place.text.empty() ? " " : std::string_view(place.text);
        text += place.red && colours ? fmt::format("\033[31m{}\033[0m", shown) : std::string(shown);
      }
      text += "\n";
    }
    return text;
  }

 private:
  struct Place {
    std::string text;
    bool red = false;
  };
  bool inside(std::ptrdiff_t x, std::ptrdiff_t y) const {
    return x >= 0 && y >= 0 && x < static_cast<std::ptrdiff_t>(columns_) && y < static_cast<std::ptrdiff_t>(rows_);
  }
  Place& at(std::ptrdiff_t x, std::ptrdiff_t y) {
    return places_[static_cast<std::size_t>(y) * columns_ + static_cast<std::size_t>(x)];
  }
  std::size_t columns_, rows_;
  std::vector<Place> places_;
};

std::ptrdiff_t rounded(double value) {
  return static_cast<std::ptrdiff_t>(std::lround(value));
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

void fill(Canvas& canvas, const DisplayItem& item, std::string_view character, bool red = false) {
  // An item smaller than a character fills the character at its corner.
  const auto left = static_cast<std::ptrdiff_t>(std::floor(item.x + 1e-9));
  const auto top = static_cast<std::ptrdiff_t>(std::floor(item.y + 1e-9));
  const std::ptrdiff_t right = std::max(left + 1, rounded(item.x + item.width));
  const std::ptrdiff_t bottom = std::max(top + 1, rounded(item.y + item.height));
  for (std::ptrdiff_t y = top; y < bottom; ++y) {
    for (std::ptrdiff_t x = left; x < right; ++x) canvas.put(x, y, character, red);
  }
}

void outline(Canvas& canvas, const DisplayItem& item) {
  const std::ptrdiff_t left = rounded(item.x), top = rounded(item.y);
  const std::ptrdiff_t right = rounded(item.x + item.width) - 1, bottom = rounded(item.y + item.height) - 1;
  for (std::ptrdiff_t y = top; y <= bottom; ++y) {
    for (std::ptrdiff_t x = left; x <= right; ++x) canvas.put(x, y, "");
  }
  for (std::ptrdiff_t x = left + 1; x < right; ++x) {
    canvas.put(x, top, "─");
    canvas.put(x, bottom, "─");
  }
  for (std::ptrdiff_t y = top + 1; y < bottom; ++y) {
    canvas.put(left, y, "│");
    canvas.put(right, y, "│");
  }
  canvas.put(left, top, "┌");
  canvas.put(right, top, "┐");
  canvas.put(left, bottom, "└");
  canvas.put(right, bottom, "┘");
  const auto room = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, right - left - 1));
  if (!item.text.empty() && room > 0) canvas.write(left + 1, top, std::string_view(item.text).substr(0, room));
}

void rectangle(Canvas& canvas, const DisplayItem& item) {
  constexpr std::array<std::string_view, 4> shades{"░", "▒", "▓", "█"};
  switch (item.meaning) {
    case Meaning::container:
    case Meaning::node:
      return outline(canvas, item);
    case Meaning::heat: {
      if (item.value < 0) return fill(canvas, item, "·");
      return fill(canvas, item, shades[std::min<std::size_t>(3, static_cast<std::size_t>(item.value * 4))]);
    }
    case Meaning::core: {
      const std::string text = item.text.empty() ? "·" : item.text;
      return canvas.write(rounded(item.x + item.width) - static_cast<std::ptrdiff_t>(code_points(text)),
                          rounded(item.y), text);
    }
    case Meaning::device:
      return canvas.write(rounded(item.x), rounded(item.y), item.text);
    case Meaning::before:
      return fill(canvas, item, "▒");
    case Meaning::job:
      return fill(canvas, item, std::string(1, job_letter(static_cast<std::size_t>(item.value))));
    case Meaning::shared_job:
      return fill(canvas, item, "×", true);
    case Meaning::phase:
      return fill(canvas, item, std::string_view(item.text).substr(0, 1));
    case Meaning::mark:
      return fill(canvas, item, "^");
    default:
      return fill(canvas, item, "█");
  }
}

/// Draws horizontal and vertical links in empty cells.
void wire(Canvas& canvas, const DisplayItem& item) {
  const std::ptrdiff_t x = rounded(item.x), y = rounded(item.y);
  const std::ptrdiff_t right = rounded(item.x + item.width), bottom = rounded(item.y + item.height);
  if (y == bottom) {
    for (std::ptrdiff_t at = std::min(x, right); at <= std::max(x, right); ++at) canvas.put(at, y, "─");
  } else if (x == right) {
    for (std::ptrdiff_t at = std::min(y, bottom); at <= std::max(y, bottom); ++at) canvas.put(x, at, "│");
  }
}

}  // namespace

std::string to_text(const Drawing& drawing, const TerminalStyle& style) {
  const auto all = static_cast<std::size_t>(std::ceil(drawing.list.height));
  const std::size_t rows = std::min(all, style.max_rows);
  const auto wide = static_cast<std::size_t>(std::ceil(drawing.list.width)) + 1;
  Canvas canvas(std::min(wide, style.max_columns), rows);
  for (const DisplayItem& item : drawing.list.items) {
    switch (item.kind) {
      case DisplayItem::Kind::rectangle:
        rectangle(canvas, item);
        break;
      case DisplayItem::Kind::line:
        if (item.meaning == Meaning::wire) wire(canvas, item);  // borders would be between characters
        break;
      case DisplayItem::Kind::text: {
        const auto length = static_cast<double>(code_points(item.text));
        const double shift = item.align == DisplayItem::Align::left     ? 0
                             : item.align == DisplayItem::Align::middle ? length / 2
                                                                        : length;
        canvas.write(rounded(item.x - shift), static_cast<std::ptrdiff_t>(std::floor(item.y + 1e-9)), item.text);
        break;
      }
    }
  }
  std::string text = without_controls(drawing.title) + "\n" + canvas.text(style.colours);
  if (rows < all) text += fmt::format("  … {} rows more; -o report.html or --svg shows all\n", all - rows);
  if (wide > style.max_columns) text += "  … cut at the right; -o report.html or --svg shows all\n";
  return text;
}

}  // namespace rankloom
