// SPDX-License-Identifier: Apache-2.0
// map/structure: a grid of ranks cut into boxes along the levels of the machine.
#pragma once

#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/grid.hpp"

namespace rankloom {

/// Every part of the machine gets a box of cells. Where the sides divide evenly, the boxes are the cheapest of all
/// ways to divide them, level by level; elsewhere they are cut one after the other to the size that each part can hold,
/// along the axes that a search over estimated costs finds best. Ranks take the places that the default order takes.
/// Works on every machine; between nodes of a network the cuts are halves, and boxes next to each other come to lie
/// near each other. None when the grid does not have as many cells as there are ranks.
/// O(ranks) and a search that depends on the levels alone; O(ranks log ranks) and a few evaluations where boxes are
/// uneven. 8 bytes a rank, 32 while uneven boxes are cut.
std::optional<std::vector<Core>> tiled_placement(const MapProblem& problem, const Grid& grid);

}  // namespace rankloom
