// SPDX-License-Identifier: Apache-2.0
// map/structure: uneven boxes, cut to the size that each part of the machine can hold.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/structure/cut_plan.hpp"
#include "rankloom/map/structure/occupancy.hpp"

namespace rankloom {

/// Which of a plan's ways to cut the uppermost level, planned for so many pieces.
struct TopCut {
  double pieces = 1;
  std::size_t choice = 0;
};

Sides<double> whole_grid(const Walls& walls);

/// Cuts a grid of grains into regions for the parts of the machine. Returns for each grain, row major, which of the
/// seats' groups as large as a grain it gets. A cut goes plane by plane across its axis, and may end inside a plane, so
/// that every part gets as many grains as it has seats for. O(grains log grains) for each level and axis.
std::vector<std::uint32_t> cut_to_size(const Occupancy& occupancy, const Walls& walls, CutPlan& plan, const Box& grain,
                                       const TopCut& top);

/// The same without walls: the grains row after row, every other row backwards, the last axis of the order fastest. In
/// small or thin grids that can cost less than boxes. O(grains).
std::vector<std::uint32_t> swept(const Walls& walls, const Box& grain, std::span<const std::size_t> order);

}  // namespace rankloom
