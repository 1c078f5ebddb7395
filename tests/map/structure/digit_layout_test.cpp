// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/structure/embedding/digit_layout.hpp"

#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/structure/embedding/grid_layout_cost.hpp"

namespace rankloom {
namespace {

using Coordinates = std::vector<std::uint32_t>;

/// A grid with 100 bytes for each pair of neighbours.
Grid grid_of(std::vector<std::uint32_t> extent, std::vector<bool> wraps = {}) {
  Grid grid;
  grid.extent = std::move(extent);
  grid.wraps = wraps.empty() ? std::vector<bool>(grid.extent.size(), false) : std::move(wraps);
  const double cells = std::accumulate(grid.extent.begin(), grid.extent.end(), 1.0, std::multiplies<>());
  for (std::size_t axis = 0; axis < grid.extent.size(); ++axis) {
    AxisSteps along{};
    along[axis] = 1;
    const double steps = grid.wraps[axis] ? grid.extent[axis] : grid.extent[axis] - 1;
    grid.directions.push_back({along, 100 * cells / grid.extent[axis] * steps});
  }
  return grid;
}

std::vector<MachineLevel> torus(const std::vector<std::uint32_t>& sizes) {
  std::vector<MachineLevel> levels;
  for (const std::uint32_t size : sizes) levels.push_back({size, 1, 1, true, true});
  return levels;
}

/// The digits of all axes, one after another, wherever they fit.
DigitLayout first_fit(const Grid& grid, std::span<const MachineLevel> levels) {
  DigitLayout layout{.levels = std::vector<std::vector<LayoutDigit>>(levels.size()),
                     .gray = std::vector<bool>(grid.extent.size(), true)};
  std::vector<std::uint32_t> used(levels.size(), 1);
  for (std::uint32_t axis = 0; axis < grid.extent.size(); ++axis) {
    std::uint32_t before = 1;
    for (const std::uint32_t radix : prime_radices(grid.extent[axis])) {
      std::size_t level = 0;
      while (level + 1 < levels.size() && levels[level].size / used[level] % radix != 0) ++level;
      layout.levels[level].push_back({axis, before, radix, false});
      used[level] *= radix;
      before *= radix;
    }
  }
  return layout;
}

void for_each_cell(const Grid& grid, const auto& visit) {
  Coordinates at(grid.extent.size(), 0);
  for (bool more = true; more;) {
    visit(at);
    std::size_t axis = at.size();
    while (axis > 0 && ++at[axis - 1] == grid.extent[axis - 1]) at[--axis] = 0;
    more = axis > 0;
  }
}

/// Sums over all pairs of neighbours.
double reference_cost(const Grid& grid, std::span<const MachineLevel> levels, const DigitLayout& layout) {
  double cost = 0;
  for_each_cell(grid, [&](const Coordinates& at) {
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      if (at[axis] + 1 == grid.extent[axis] && !grid.wraps[axis]) continue;
      Coordinates next = at;
      next[axis] = (at[axis] + 1) % grid.extent[axis];
      for (std::size_t level = 0; level < levels.size(); ++level) {
        const std::int64_t from = layout.position(level, at), to = layout.position(level, next);
        cost += 100 * levels[level].distance(static_cast<std::uint32_t>(std::abs(from - to)));
      }
    }
  });
  return cost;
}

DigitLayout improved(const Grid& grid, std::span<const MachineLevel> levels) {
  GridLayoutCost cost(grid, levels);
  return improve_layout(
      first_fit(grid, levels), levels, [&](const DigitLayout& layout) { return cost(layout); },
      [&] { return cost.visits() > 4'000'000; });
}

void expect_one_cell_per_position(const Grid& grid, std::span<const MachineLevel> levels, const DigitLayout& layout) {
  std::vector<int> taken(std::accumulate(levels.begin(), levels.end(), std::size_t{1},
                                         [](std::size_t n, const MachineLevel& level) { return n * level.size; }),
                         0);
  for_each_cell(grid, [&](const Coordinates& at) {
    std::size_t node = 0;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      ASSERT_LT(layout.position(level, at), levels[level].size);
      node = node * levels[level].size + layout.position(level, at);
    }
    EXPECT_EQ(++taken[node], 1);
  });
}

TEST(PrimeRadices, AreInAscendingOrder) {
  EXPECT_TRUE(prime_radices(1).empty());
  EXPECT_EQ(prime_radices(2), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(prime_radices(360), (std::vector<std::uint32_t>{2, 2, 2, 3, 3, 5}));
  EXPECT_EQ(prime_radices(4294967291U), (std::vector<std::uint32_t>{4294967291U}));
}

TEST(DigitLayout, WalksALineWithMirroredGrayDigits) {
  const DigitLayout layout{.levels = {{{0, 1, 3, false}, {0, 3, 2, true}, {0, 6, 2, true}}}, .gray = {true}};
  for (std::uint32_t at = 0; at < 12; ++at) EXPECT_EQ(layout.position(0, Coordinates{at}), at);
}

TEST(GridLayoutCost, IsTheSumOverAllPairsOfNeighbours) {
  const auto levels = torus({6, 12, 15});
  Random random(3);
  for (const bool wraps : {false, true}) {
    const Grid grid = grid_of({12, 10, 9}, {wraps, false, wraps});
    GridLayoutCost cost(grid, levels);
    DigitLayout layout = first_fit(grid, levels);
    for (int change = 0; change < 20; ++change) {
      auto& digits = layout.levels[random.below(levels.size())];
      std::swap(digits[random.below(digits.size())], digits[random.below(digits.size())]);
      digits[random.below(digits.size())].reflects = random.below(2) == 0;
      layout.gray[random.below(3)] = random.below(2) == 0;
      const double expected = reference_cost(grid, levels, layout);
      EXPECT_NEAR(cost(layout), expected, 1e-9 * expected);
    }
  }
}

TEST(ImproveLayout, KeepsOneCellPerPosition) {
  for (const auto& [extent, sizes] : std::vector<std::pair<Coordinates, Coordinates>>{
           {{8, 8, 8}, {16, 32}}, {{12, 10, 9}, {6, 12, 15}}, {{4, 6}, {9, 8, 7}}, {{7, 6, 2}, {42, 2}}}) {
    const Grid grid = grid_of(extent);
    const auto levels = torus(sizes);
    const DigitLayout start = first_fit(grid, levels), layout = improved(grid, levels);
    expect_one_cell_per_position(grid, levels, layout);
    EXPECT_LE(reference_cost(grid, levels, layout), reference_cost(grid, levels, start));
  }
}

TEST(ImproveLayout, FindsOneHopForEveryStepOfACubeInFourDimensions) {
  const Grid grid = grid_of({8, 8, 8});
  const auto levels = torus({8, 4, 4, 4});
  EXPECT_DOUBLE_EQ(reference_cost(grid, levels, improved(grid, levels)), 100 * 3 * 7 * 64);
}

TEST(ImproveLayout, InterleavesTheAxesOfACubeInTwoDimensions) {
  const Grid grid = grid_of({8, 8, 8});
  const auto levels = torus({32, 16});
  // The best fold with one digit for each axis and level has 2.33 hops for each step.
  EXPECT_LE(reference_cost(grid, levels, improved(grid, levels)), 2.01 * 100 * 3 * 7 * 64);
}

}  // namespace
}  // namespace rankloom
