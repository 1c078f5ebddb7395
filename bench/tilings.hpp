// SPDX-License-Identifier: Apache-2.0
// bench: what a grid costs when it is cut into equal boxes along the machine: cores' boxes in nodes' boxes, and so on.
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

/// The cheapest of all ways to give each level of the hierarchy (bottom up, as many cores as ranks) a box that divides
/// that of the level above. `weights` by how many coordinates differ by one: faces [1], edges [2], corners [3], of both
/// directions together. None when no boxes fit.
std::optional<Tiling> best_tiling(const Box& grid, const std::array<double, 4>& weights,
                                  std::span<const std::uint64_t> hierarchy, std::span<const double> distance);

}  // namespace rankloom::bench
