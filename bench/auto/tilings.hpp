// SPDX-License-Identifier: Apache-2.0
// bench/auto: the cost of regular tilings of a grid: equal boxes for cores within equal boxes for nodes, and so on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace rankloom::bench {

using Box = std::array<std::uint64_t, 3>;

struct Tiling {
  double cost;
  std::vector<Box> boxes;  ///< The box of each level, bottom up; the last is the grid.
};

/// The tiling with the lowest cost in which each level of the hierarchy (bottom up, as many cores as ranks) has a box
/// that divides the box of the level above. `weights`, by the number of coordinates that differ by one: faces [1],
/// edges [2], corners [3]; both directions together. Returns nullopt if no boxes fit.
std::optional<Tiling> best_tiling(const Box& grid, const std::array<double, 4>& weights,
                                  std::span<const std::uint64_t> hierarchy, std::span<const double> distance);

}  // namespace rankloom::bench
