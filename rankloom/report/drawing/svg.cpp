// SPDX-License-Identifier: Apache-2.0
// report/drawing: display lists as SVG.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "rankloom/report/drawing/backends.hpp"
#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

// A column and a row of characters, in units of the picture.
constexpr double column = 8, row = 16, margin = 12, title_height = 26;

std::string_view class_of(Meaning meaning) {
  switch (meaning) {
    case Meaning::title:
      return "title";
    case Meaning::label:
      return "label";
    case Meaning::note:
      return "note";
    case Meaning::container:
      return "container";
    case Meaning::node:
      return "node";
    case Meaning::core:
      return "core";
    case Meaning::device:
      return "device";
    case Meaning::wire:
      return "wire";
    case Meaning::heat:
      return "heat";
    case Meaning::border:
      return "border";
    case Meaning::before:
      return "before";
    case Meaning::after:
      return "after";
    case Meaning::neutral:
      return "neutral";
    case Meaning::job:
      return "job";
    case Meaning::shared_job:
      return "shared";
    case Meaning::phase:
      return "phase";
    case Meaning::mark:
      break;
  }
  return "mark";
}

constexpr std::string_view style =
    "text{font:13px sans-serif;fill:#222}.title{font-size:15px;font-weight:600}.note{fill:#666;font-size:12px}"
    ".in{font-size:11px;text-anchor:middle}.container{fill:#f4f6f8;stroke:#9aa5b1}.node{fill:#fff;stroke:#52606d}"
    ".core{fill:#eef1f4;stroke:#fff}.core.taken{fill:#bcd7f0}.wire{stroke:#b0bac5;stroke-width:2}"
    ".heat.none{fill:#fbfbfb;stroke:#ccc}.border{stroke:#444;stroke-width:.5}.before{fill:#9aa5b1}.after{fill:#1f77b4}"
    ".neutral{fill:#5b8a72}.job,.shared{stroke:#fff;stroke-width:.6}.shared{fill:#d62728}.mark{fill:#d62728}";

/// For pictures with devices.
constexpr std::string_view device_style = ".device{fill:#fff;stroke:#52606d}.device.taken{fill:#bcd7f0}";

/// Pale yellow over red to nearly black: also apart when printed without colours.
std::string heat_colour(double value) {
  struct Colour {
    double r, g, b;
  };
  constexpr std::array<Colour, 4> stops{{{254, 235, 180}, {245, 140, 70}, {185, 40, 70}, {50, 10, 50}}};
  const double place = std::clamp(value, 0.0, 1.0) * (stops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(place), stops.size() - 2);
  const double part = place - static_cast<double>(low);
  const auto mix = [&](double a, double b) { return static_cast<int>(std::lround(a + (b - a) * part)); };
  const Colour &a = stops[low], &b = stops[low + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b));
}

/// Hues by the golden angle: neighbours in a list are never alike; red is left to what is shared.
std::string hue(double number) {
  return fmt::format("hsl({:.0f},55%,68%)", 40 + std::fmod(number * 137.508, 280));
}

std::string rectangle(const DisplayItem& item, double x, double y) {
  std::string classes(class_of(item.meaning)), fill;
  double gap = 0;
  if (item.meaning == Meaning::heat && item.value < 0) classes += " none";
  if (item.meaning == Meaning::heat && item.value >= 0) fill = heat_colour(item.value);
  if (item.meaning == Meaning::job || item.meaning == Meaning::phase) fill = hue(item.value);
  if (item.meaning == Meaning::core || item.meaning == Meaning::device) {
    if (item.value > 0) classes += " taken";
    gap = item.meaning == Meaning::core ? 0.5 : 1.5;
  }
  if (item.meaning == Meaning::before || item.meaning == Meaning::after || item.meaning == Meaning::neutral) gap = 1;
  std::string text = fmt::format("<rect class=\"{}\" x=\"{:.4g}\" y=\"{:.6g}\" width=\"{:.5g}\" height=\"{:.5g}\"{}",
                                 classes, x, y + gap, item.width * column, std::max(0.5, item.height * row - 2 * gap),
                                 fill.empty() ? "" : fmt::format(" fill=\"{}\"", fill));
  text += item.about.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(item.about));
  if (item.text.empty()) return text;
  const bool inside =
      item.meaning == Meaning::core || item.meaning == Meaning::device || item.meaning == Meaning::phase;
  return text + (inside ? fmt::format("<text class=\"in\" x=\"{:.6g}\" y=\"{:.6g}\">{}</text>\n",
                                      x + item.width * column / 2, y + 12, escaped(item.text))
                        : fmt::format("<text class=\"note\" x=\"{:.6g}\" y=\"{:.6g}\">{}</text>\n", x + 4, y + 12,
                                      escaped(item.text)));
}

struct Size {
  double width, height;
};

Size size_of(const Drawing& drawing) {
  return {2 * margin + std::max(drawing.list.width * column, static_cast<double>(drawing.title.size()) * 8),
          2 * margin + title_height + drawing.list.height * row};
}

std::string body_of(const Drawing& drawing) {
  std::string body =
      fmt::format("<text class=\"title\" x=\"{}\" y=\"{}\">{}</text>\n", margin, margin + 8, escaped(drawing.title));
  for (const DisplayItem& item : drawing.list.items) {
    const double x = margin + item.x * column, y = margin + title_height + item.y * row;
    switch (item.kind) {
      case DisplayItem::Kind::rectangle:
        body += rectangle(item, x, y);
        break;
      case DisplayItem::Kind::line:
        body += fmt::format("<line class=\"{}\" x1=\"{:.6g}\" y1=\"{:.6g}\" x2=\"{:.6g}\" y2=\"{:.6g}\"/>\n",
                            class_of(item.meaning), x, y, x + item.width * column, y + item.height * row);
        break;
      case DisplayItem::Kind::text: {
        const std::string_view anchor = item.align == DisplayItem::Align::left     ? ""
                                        : item.align == DisplayItem::Align::middle ? " text-anchor=\"middle\""
                                                                                   : " text-anchor=\"end\"";
        body += fmt::format("<text class=\"{}\" x=\"{:.6g}\" y=\"{:.6g}\"{}>{}</text>\n", class_of(item.meaning), x,
                            y + 12, anchor, escaped(item.text));
        break;
      }
    }
  }
  return body;
}

bool has_devices(const Drawing& drawing) {
  return std::any_of(drawing.list.items.begin(), drawing.list.items.end(),
                     [](const DisplayItem& item) { return item.meaning == Meaning::device; });
}

std::string file_of(const Size& size, const std::string& body, bool devices) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.6g}\" height=\"{1:.6g}\" viewBox=\"0 0 {0:.6g} "
      "{1:.6g}\">\n<style>{2}{3}</style>\n<rect width=\"{0:.6g}\" height=\"{1:.6g}\" fill=\"#fff\"/>\n{4}</svg>\n",
      size.width, size.height, style, devices ? device_style : std::string_view(), body);
}

}  // namespace

std::string to_svg(const Drawing& drawing) {
  return file_of(size_of(drawing), body_of(drawing), has_devices(drawing));
}

std::string to_svg(std::span<const Drawing> drawings) {
  Size all{1, 1};
  std::string body;
  for (const Drawing& drawing : drawings) {
    const Size size = size_of(drawing);
    body += fmt::format("<g transform=\"translate(0,{:.6g})\">\n{}</g>\n", all.height, body_of(drawing));
    all = {std::max(all.width, size.width), all.height + size.height};
  }
  return file_of(all, body, std::any_of(drawings.begin(), drawings.end(), has_devices));
}

}  // namespace rankloom
