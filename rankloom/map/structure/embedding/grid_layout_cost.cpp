// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: the cost of a digit layout, level by level.
#include "rankloom/map/structure/embedding/grid_layout_cost.hpp"

#include <algorithm>

namespace rankloom {

GridLayoutCost::GridLayoutCost(const Grid& grid, std::span<const MachineLevel> levels) : grid_(grid), levels_(levels) {
  for (const Grid::Direction& direction : grid.directions) {
    for (std::size_t axis = 0; axis < grid.extent.size(); ++axis) {
      if (direction.step[axis] != 0) bytes_[axis] += direction.bytes;
    }
  }
  for (const MachineLevel& level : levels) {
    std::vector<double> distance(level.size);
    for (std::uint32_t steps = 0; steps < level.size; ++steps) distance[steps] = level.distance(steps);
    distance_.push_back(std::move(distance));
  }
}

double GridLayoutCost::operator()(const DigitLayout& layout) {
  double cost = 0;
  for (std::size_t level = 0; level < levels_.size(); ++level) cost += stored_level_cost(layout, level);
  return cost;
}

double GridLayoutCost::stored_level_cost(const DigitLayout& layout, std::size_t level) {
  constexpr std::size_t max_stored = std::size_t{1} << 16;
  std::string key(1, static_cast<char>(level));
  const auto append = [&](std::uint32_t number) {
    for (int byte = 0; byte < 4; ++byte) key.push_back(static_cast<char>(number >> (8 * byte)));
  };
  for (const LayoutDigit& digit : layout.levels[level]) {
    append(digit.before);
    append(digit.radix);
    append(digit.axis * 4 + (digit.reflects ? 2 : 0) + (layout.gray[digit.axis] ? 1 : 0));
  }
  if (const auto known = stored_.find(key); known != stored_.end()) return known->second;
  const double cost = level_cost(layout, level);
  if (stored_.size() < max_stored) stored_.emplace(std::move(key), cost);
  return cost;
}

double GridLayoutCost::level_cost(const DigitLayout& layout, std::size_t level) {
  std::vector<std::uint32_t> axes;
  for (const LayoutDigit& digit : layout.levels[level]) axes.push_back(digit.axis);
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  if (axes.empty()) return 0;
  find_positions(layout, level, axes);
  const std::vector<double>& distance = distance_[level];
  const auto between = [&](std::size_t a, std::size_t b) {
    return distance[positions_[a] < positions_[b] ? positions_[b] - positions_[a] : positions_[a] - positions_[b]];
  };
  double cost = 0;
  std::size_t stride = 1;
  for (std::size_t at = axes.size(); at-- > 0;) {
    const std::uint32_t extent = grid_.extent[axes[at]];
    const bool wraps = grid_.wraps[axes[at]];
    double sum = 0;
    std::uint64_t pairs = 0;
    for (std::size_t line = 0; line < positions_.size(); line += extent * stride) {
      const std::size_t last = line + (extent - 1) * stride;
      for (std::size_t cell = line; cell < last; ++cell) sum += between(cell, cell + stride);
      for (std::size_t cell = 0; wraps && cell < stride; ++cell) sum += between(last + cell, line + cell);
      pairs += (wraps ? extent : extent - 1) * stride;
    }
    cost += bytes_[axes[at]] * sum / static_cast<double>(pairs);
    stride *= extent;
  }
  visits_ += positions_.size() * (axes.size() + 1);
  return cost;
}

void GridLayoutCost::find_positions(const DigitLayout& layout, std::size_t level, std::span<const std::uint32_t> axes) {
  std::size_t cells = 1;
  for (const std::uint32_t axis : axes) cells *= grid_.extent[axis];
  positions_.assign(cells, 0);
  std::uint32_t size = 1;
  for (const LayoutDigit& digit : layout.levels[level]) {
    const std::uint32_t extent = grid_.extent[digit.axis];
    std::size_t stride = 1;
    for (std::size_t at = axes.size(); axes[--at] != digit.axis;) stride *= grid_.extent[axes[at]];
    for (std::size_t line = 0; line < cells; line += extent * stride) {
      for (std::uint32_t coordinate = 0; coordinate < extent; ++coordinate) {
        const std::uint32_t value = layout.value(digit, coordinate);
        const bool mirrored = digit.reflects && value % 2 != 0;
        std::uint32_t* const begin = positions_.data() + line + coordinate * stride;
        for (std::size_t cell = 0; cell < stride; ++cell)
          begin[cell] = (mirrored ? size - 1 - begin[cell] : begin[cell]) + value * size;
      }
    }
    size *= digit.radix;
  }
}

}  // namespace rankloom
