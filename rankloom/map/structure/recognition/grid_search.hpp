// SPDX-License-Identifier: Apache-2.0
// map/structure/recognition: two searches for the grid of a graph. Each ends with a check of every edge
// (edge_census.hpp).
#pragma once

#include <optional>

#include "rankloom/map/structure/recognition/adjacency_view.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

/// For ranks in row-major order, with the axes in any order: the rank numbers of two neighbours differ by the stride of
/// an axis, and each stride is a multiple of the one before. A sample of a few hundred ranks decides whether to check
/// all of them.
template <class Id>
std::optional<Grid> row_major_grid(const AdjacencyView<Id>& adjacency);

/// For any numbering of the ranks. Uses only the edges along an axis. If ranks communicate across corners too, these
/// are the heaviest edges that connect all ranks; if all edges have the same weight, they are those whose ends have the
/// most common neighbours. Two neighbours of a rank are on one axis if they have no other common neighbour. The axes of
/// a first rank are propagated from rank to rank, because the fourth corner of each square is the one common neighbour
/// of two others. O(edges) time; 8 bytes per rank and axis and 13 more per rank. Ends at the first contradiction.
template <class Id>
std::optional<Grid> embed_grid(const AdjacencyView<Id>& adjacency);

}  // namespace rankloom
