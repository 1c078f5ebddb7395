// SPDX-License-Identifier: Apache-2.0
// report/layout: arrangement of boxes in grids and rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace rankloom {

struct BoxGrid {
  std::uint32_t columns = 1, rows = 1;
};

/// A character is about twice as high as wide.
inline constexpr double row_in_columns = 2;

/// The grid of `count` equal boxes whose ratio of width to height is closest to `aspect`; grids without holes are
/// preferred.
inline BoxGrid fitting_grid(std::uint32_t count, double width, double height, double aspect) {
  BoxGrid best;
  double least = 1e300;
  for (std::uint32_t columns = 1; columns <= std::max(1U, count); ++columns) {
    const std::uint32_t rows = (count + columns - 1) / columns;
    if (columns > 1 && (count + columns - 2) / (columns - 1) == rows && count % columns != 0) continue;
    const double shape = columns * width / (rows * height * row_in_columns);
    const double worth = std::abs(std::log(shape / aspect)) + (count % columns == 0 ? 0 : 0.4);
    if (worth >= least) continue;
    least = worth;
    best = {columns, rows};
  }
  return best;
}

/// Places boxes in rows from left to right. A new row begins after the given number of columns, or at the maximum
/// width.
class Flow {
 public:
  Flow(double left, double top, double most) : max_width(most), left_(left), x_(left), y_(top), right_(left) {}

  /// The position of the next box.
  std::pair<double, double> next(double width, double height) {
    const bool full = (columns > 0 && in_row_ == columns) || (max_width > 0 && x_ - left_ + width > max_width);
    if (full && in_row_ > 0) {
      x_ = left_;
      y_ += row_height_;
      row_height_ = 0;
      in_row_ = 0;
    }
    const std::pair place{x_, y_};
    right_ = std::max(right_, x_ + width);
    x_ += width + 1;
    row_height_ = std::max(row_height_, height);
    ++in_row_;
    return place;
  }
  /// Right and lower end of all boxes.
  double width() const { return right_; }
  double height() const { return y_ + row_height_; }

  std::uint32_t columns = 0;  ///< 0: as many as fit.
  double max_width;           ///< 0: any.

 private:
  double left_, x_, y_, right_;
  double row_height_ = 0;
  std::uint32_t in_row_ = 0;
};

}  // namespace rankloom
