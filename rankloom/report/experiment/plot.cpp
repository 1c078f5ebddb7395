// SPDX-License-Identifier: Apache-2.0
// report/experiment: draws plots as SVG.
#include "rankloom/report/experiment/plot.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "rankloom/report/text_format.hpp"

namespace rankloom {

namespace {

constexpr double canvas_width = 720, canvas_height = 420;
constexpr double left_margin = 70, right_margin = 220, top_margin = 40, bottom_margin = 55;

/// Okabe and Ito's colours, which people with colour blindness can tell apart.
constexpr std::array<std::string_view, 8> colours{"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#000000", "#8a8a00"};

/// Maps values of one axis to 0..1.
class Scale {
 public:
  Scale(const PlotAxis& axis, double min, double max) : logarithmic_(axis.logarithmic) {
    low_ = transformed(min);
    high_ = transformed(max);
    if (!(high_ > low_)) {
      const double margin = logarithmic_ ? 0.5 : std::max(0.5, std::abs(low_) * 0.1);
      low_ -= margin;
      high_ += margin;
    }
    const double space = (high_ - low_) * 0.03;
    low_ -= space;
    high_ += space;
  }

  bool shows(double value) const { return std::isfinite(value) && (!logarithmic_ || value > 0); }
  double place(double value) const { return (transformed(value) - low_) / (high_ - low_); }

  /// Round numbers inside the range.
  std::vector<double> ticks() const { return logarithmic_ ? logarithmic_ticks() : linear_ticks(); }

 private:
  double transformed(double value) const { return logarithmic_ ? std::log10(value) : value; }

  std::vector<double> linear_ticks() const {
    const double raw = (high_ - low_) / 6, power = std::pow(10, std::floor(std::log10(raw)));
    const double step = power * (raw / power < 1.5 ? 1 : raw / power < 3.5 ? 2 : raw / power < 7.5 ? 5 : 10);
    std::vector<double> values;
    for (double number = std::ceil(low_ / step); number * step <= high_; ++number) values.push_back(number * step);
    return values;
  }

  std::vector<double> logarithmic_ticks() const {
    std::vector<double> values;
    const bool narrow = high_ - low_ < 2;
    for (double power = std::floor(low_); power <= high_; ++power) {
      for (const double digit : narrow ? std::vector<double>{1, 2, 5} : std::vector<double>{1}) {
        const double value = digit * std::pow(10, power);
        if (transformed(value) >= low_ && transformed(value) <= high_) values.push_back(value);
      }
    }
    if (values.size() < 2) values = {std::pow(10, low_), std::pow(10, high_)};
    return values;
  }

  bool logarithmic_;
  double low_ = 0, high_ = 1;
};

struct Range {
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  void add(double value, bool logarithmic) {
    if (!std::isfinite(value) || (logarithmic && value <= 0)) return;
    min = std::min(min, value);
    max = std::max(max, value);
  }
  Range or_unit() const { return min <= max ? *this : Range{1, 1}; }
};

class PlotWriter {
 public:
  PlotWriter(const Plot& plot, Range x, Range y) : plot_(plot), x_(plot.x, x.min, x.max), y_(plot.y, y.min, y.max) {}

  std::string write() {
    text_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<style>text{{font:12px sans-serif;fill:#222}}.title{{font-size:15px;font-weight:600}}"
        ".grid{{stroke:#e3e7eb}}.frame{{fill:none;stroke:#52606d}}polyline{{fill:none;stroke-width:2}}</style>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#fff\"/>\n",
        canvas_width, canvas_height);
    text_ += fmt::format("<text class=\"title\" x=\"{}\" y=\"24\">{}</text>\n", left_margin, escaped(plot_.title));
    axes();
    for (std::size_t i = 0; i < plot_.series.size(); ++i) series(i);
    return text_ + "</svg>\n";
  }

 private:
  double x_of(double value) const {
    return left_margin + (canvas_width - left_margin - right_margin) * x_.place(value);
  }
  double y_of(double value) const {
    return canvas_height - bottom_margin - (canvas_height - top_margin - bottom_margin) * y_.place(value);
  }

  void axes() {
    for (const double value : x_.ticks()) {
      text_ += fmt::format(
          "<line class=\"grid\" x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\"/>\n"
          "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\">{4:.4g}</text>\n",
          x_of(value), top_margin, canvas_height - bottom_margin, canvas_height - bottom_margin + 16, value);
    }
    for (const double value : y_.ticks()) {
      text_ += fmt::format(
          "<line class=\"grid\" x1=\"{0}\" y1=\"{1:.1f}\" x2=\"{2}\" y2=\"{1:.1f}\"/>\n"
          "<text x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5:.4g}</text>\n",
          left_margin, y_of(value), canvas_width - right_margin, left_margin - 6, y_of(value) + 4, value);
    }
    text_ +=
        fmt::format("<rect class=\"frame\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>\n", left_margin, top_margin,
                    canvas_width - left_margin - right_margin, canvas_height - top_margin - bottom_margin);
    text_ += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
                         (left_margin + canvas_width - right_margin) / 2, canvas_height - 14, escaped(plot_.x.title));
    text_ +=
        fmt::format("<text x=\"16\" y=\"{0}\" text-anchor=\"middle\" transform=\"rotate(-90 16 {0})\">{1}</text>\n",
                    (top_margin + canvas_height - bottom_margin) / 2, escaped(plot_.y.title));
  }

  void series(std::size_t number) {
    const PlotSeries& series = plot_.series[number];
    const std::string_view colour = colours[number % colours.size()];
    std::string line, marks;
    for (const PlotPoint& point : series.points) {
      if (!x_.shows(point.x) || !y_.shows(point.y)) continue;
      line += fmt::format("{}{:.1f},{:.1f}", line.empty() ? "" : " ", x_of(point.x), y_of(point.y));
      if (!series.marks) continue;
      marks +=
          fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\" fill=\"{}\"><title>{}</title></circle>\n",
                      x_of(point.x), y_of(point.y), colour, escaped(point.about.empty() ? series.name : point.about));
    }
    if (series.line && !line.empty()) text_ += fmt::format("<polyline points=\"{}\" stroke=\"{}\"/>\n", line, colour);
    const double y = top_margin + 12 + 18 * static_cast<double>(number), x = canvas_width - right_margin + 14;
    text_ +=
        marks + fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"4\" fill=\"{}\"/>\n<text x=\"{}\" y=\"{}\">{}</text>\n", x,
                            y - 4, colour, x + 10, y, escaped(shortened(series.name)));
  }

  /// As much as fits next to the plot.
  static std::string shortened(const std::string& name) {
    constexpr std::size_t max_length = 30;
    return name.size() <= max_length ? name : name.substr(0, max_length - 3) + "...";
  }

  const Plot& plot_;
  Scale x_, y_;
  std::string text_;
};

}  // namespace

std::string to_svg(const Plot& plot) {
  Range x, y;
  for (const PlotSeries& series : plot.series) {
    for (const PlotPoint& point : series.points) {
      x.add(point.x, plot.x.logarithmic);
      y.add(point.y, plot.y.logarithmic);
    }
  }
  return PlotWriter(plot, x.or_unit(), y.or_unit()).write();
}

}  // namespace rankloom
