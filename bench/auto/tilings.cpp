// SPDX-License-Identifier: Apache-2.0
// bench/auto: the cost of regular tilings of a grid.
#include "bench/auto/tilings.hpp"

#include <cstdlib>

namespace rankloom::bench {
namespace {

class Search {
 public:
  Search(const Box& grid, const std::array<double, 4>& weights, std::span<const std::uint64_t> hierarchy,
         std::span<const double> distance)
      : grid_(grid), weights_(weights), hierarchy_(hierarchy), distance_(distance) {}

  std::optional<Tiling> run() && {
    extend({1, 1, 1}, 0, 0);
    return best_;
  }

 private:
  /// The total weight of edges inside boxes of this shape, in closed form over the 13 directions.
  double inside(const Box& box) const {
    const double boxes = volume(grid_) / volume(box);
    double sum = 0;
    for (int code = 14; code < 27; ++code) {
      const std::array<int, 3> step{code / 9 - 1, code / 3 % 3 - 1, code % 3 - 1};
      double pairs = boxes;
      std::size_t differ = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        pairs *= static_cast<double>(box[d]) - std::abs(step[d]);
        differ += step[d] != 0 ? 1 : 0;
      }
      sum += weights_[differ] * pairs;
    }
    return sum;
  }

  static double volume(const Box& box) {
    return static_cast<double>(box[0]) * static_cast<double>(box[1]) * static_cast<double>(box[2]);
  }

  void extend(const Box& below, std::size_t level, double cost) {
    if (level == hierarchy_.size()) {
      if (below == grid_ && (!best_ || cost < best_->cost)) best_ = Tiling{cost, boxes_};
      return;
    }
    const std::uint64_t parts = hierarchy_[level];
    const double below_inside = inside(below);
    for (std::uint64_t x = 1; x <= parts; ++x) {
      if (parts % x != 0 || grid_[0] % (below[0] * x) != 0) continue;
      for (std::uint64_t y = 1; y <= parts / x; ++y) {
        const Box box{below[0] * x, below[1] * y, below[2] * (parts / x / y)};
        if (parts / x % y != 0 || grid_[1] % box[1] != 0 || grid_[2] % box[2] != 0) continue;
        boxes_.push_back(box);
        extend(box, level + 1, cost + distance_[level] * (inside(box) - below_inside));
        boxes_.pop_back();
      }
    }
  }

  const Box& grid_;
  const std::array<double, 4>& weights_;
  std::span<const std::uint64_t> hierarchy_;
  std::span<const double> distance_;
  std::vector<Box> boxes_;
  std::optional<Tiling> best_;
};

}  // namespace

std::optional<Tiling> best_tiling(const Box& grid, const std::array<double, 4>& weights,
                                  std::span<const std::uint64_t> hierarchy, std::span<const double> distance) {
  return Search(grid, weights, hierarchy, distance).run();
}

}  // namespace rankloom::bench
