// SPDX-License-Identifier: Apache-2.0
// map/structure: two ways to find the grid behind a graph. Each ends with a check of every edge (survey.hpp).
#pragma once

#include <optional>

#include "rankloom/map/structure/grid.hpp"
#include "rankloom/map/structure/links.hpp"

namespace rankloom {

/// For ranks in the grid's own order, the axes in any order: neighbours then lie apart by the strides of the axes, each
/// a multiple of the one before. A few hundred ranks tell whether a check of all is worth it.
template <class Id>
std::optional<Grid> grid_in_order(const Links<Id>& links);

/// For ranks in any order. Of the edges only those along an axis are used: where ranks talk across corners too, these
/// are the heaviest that join all ranks; where all weigh the same, those whose ends have the most neighbours in common.
/// Around one rank, two neighbours lie on one axis when they have no other neighbour in common; from there the axes are
/// carried on from rank to rank, as the fourth corner of each square is the one common neighbour of two others.
/// O(edges), 8 bytes a rank and axis and 13 more; ends at the first contradiction.
template <class Id>
std::optional<Grid> unfolded_grid(const Links<Id>& links);

}  // namespace rankloom
