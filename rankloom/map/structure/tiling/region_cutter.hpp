// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: cuts a grid into regions with the capacity of each part of the machine.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/structure/tiling/cut_plan.hpp"
#include "rankloom/map/structure/tiling/occupied_slots.hpp"

namespace rankloom {

/// The choice of a plan for the uppermost level: the number of pieces and the index of the choice.
struct TopCut {
  double pieces = 1;
  std::size_t choice = 0;
};

Sides<double> grid_sides(const BoundaryTraffic& traffic);

/// Cuts a grid of base tiles into regions for the parts of the machine. Group g is the slots g·t to (g+1)·t − 1,
/// where t is the number of cells of a base tile. Returns for each base tile (row major) its group. A cut proceeds
/// plane by plane across its axis and may end inside a plane, so that every part gets as many base tiles as it has
/// slots for. O(tiles) per level and axis; O(tiles log tiles) for regions that fill less than a quarter of their box.
std::vector<std::uint32_t> cut_into_regions(const OccupiedSlots& slots, const BoundaryTraffic& traffic, CutPlan& plan,
                                            const Box& base_tile, const TopCut& top);

/// The same without cuts: the base tiles row after row, every other row backwards, the last axis of `order` fastest.
/// Can cost less than boxes in small or thin grids. O(tiles).
std::vector<std::uint32_t> serpentine_order(const BoundaryTraffic& traffic, const Box& base_tile,
                                            std::span<const std::size_t> order);

}  // namespace rankloom
