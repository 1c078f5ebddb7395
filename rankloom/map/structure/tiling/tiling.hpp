// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: places a grid of ranks by dividing it into boxes along the levels of the machine.
#pragma once

#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

/// Every part of the machine gets a box of cells. If the sides are divisible, the hierarchy of equal boxes with the
/// least cost is chosen. Otherwise regions are cut one after another to the capacity of each part, along the axes that
/// a search over estimated costs prefers. The ranks occupy the slots of the block placement. Works on every machine;
/// nodes of a network get their regions by recursive halving, so that adjacent boxes are on close nodes. Returns
/// nothing if the number of cells differs from the number of ranks. O(ranks) and a search that depends on the levels
/// alone; O(ranks log ranks) and a few evaluations if boxes are uneven. 8 bytes per rank, 32 while uneven boxes are
/// cut.
std::optional<std::vector<Core>> tiled_placement(const MapProblem& problem, const Grid& grid);

}  // namespace rankloom
