// SPDX-License-Identifier: Apache-2.0
// place/online: what windows cost, one after the other, for pictures: as moved, and had nobody moved. However long a
// program runs, there are at most so many points: then two become one.
#pragma once

#include <cstddef>
#include <vector>

namespace rankloom {

class CostHistory {
 public:
  struct Point {
    double end = 0;                 ///< Of the window, or of the last of several.
    double stayed = 0, online = 0;  ///< Seconds of all ranks together, by the model; moves included.
  };

  void add(const Point& point) {
    if (points_.empty() || in_last_ == windows_each_) {
      if (points_.size() == most) halve();
      points_.push_back({});
      in_last_ = 0;
    }
    points_.back() = {point.end, points_.back().stayed + point.stayed, points_.back().online + point.online};
    ++in_last_;
  }
  /// A move, which belongs to the last window.
  void add_price(double seconds) { points_.back().online += seconds; }

  const std::vector<Point>& points() const { return points_; }
  std::size_t windows_each() const { return windows_each_; }

 private:
  static constexpr std::size_t most = 2048;

  void halve() {
    for (std::size_t i = 0; i < most / 2; ++i) {
      const Point &a = points_[2 * i], &b = points_[2 * i + 1];
      points_[i] = {b.end, a.stayed + b.stayed, a.online + b.online};
    }
    points_.resize(most / 2);
    windows_each_ *= 2;
  }

  std::vector<Point> points_;
  std::size_t windows_each_ = 1, in_last_ = 0;
};

}  // namespace rankloom
