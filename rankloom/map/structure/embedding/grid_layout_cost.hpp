// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: bytes x distance of a grid under a digit layout.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "rankloom/map/structure/embedding/digit_layout.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

/// Steps along the axes; a step across a corner counts as one along each of its axes. The cost is a sum over the
/// levels, and that of a level depends only on its own digits, so the costs of levels that occurred before are stored.
/// O(cells of the axes with digits on the level) for a new level.
class GridLayoutCost {
 public:
  /// The arguments must outlive the object.
  GridLayoutCost(const Grid& grid, std::span<const MachineLevel> levels);

  double operator()(const DigitLayout& layout);
  /// Cells visited so far, over all levels and axes.
  std::uint64_t visits() const { return visits_; }

 private:
  double level_cost(const DigitLayout& layout, std::size_t level);
  double stored_level_cost(const DigitLayout& layout, std::size_t level);
  /// The positions of all cells of the axes that have digits on the level, the last of these axes fastest.
  void find_positions(const DigitLayout& layout, std::size_t level, std::span<const std::uint32_t> axes);

  const Grid& grid_;
  std::span<const MachineLevel> levels_;
  std::array<double, max_axes> bytes_{};            // by axis, of all directions with a step along it
  std::vector<std::vector<double>> distance_;       // by level and number of steps
  std::unordered_map<std::string, double> stored_;  // by level and its digits
  std::vector<std::uint32_t> positions_;            // scratch
  std::uint64_t visits_ = 0;
};

}  // namespace rankloom
