// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: places a grid of ranks on a mesh or torus of nodes by transposing, folding and tiling it.
#pragma once

#include <optional>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/map/structure/recognition/recognise_grid.hpp"

namespace rankloom {

struct GridEmbedding {
  std::vector<Core> core_of;
  /// All neighbours on different nodes are on adjacent nodes.
  bool adjacent = false;
};

/// Every axis of the grid is folded: its cells are numbered by several digits, and each digit counts along one level of
/// the machine: the cores of a cache, the packages of a node, a dimension of the network. A reflected Gray code turns
/// the direction of a digit at the end of each row, so that neighbours differ by one step of one digit. A search over
/// the digits finds the fold with the least bytes x distance: a grid of the shape of the network, in any order of the
/// axes, has all neighbours at a distance of one hop; 64x64 is folded onto 16x16x16.
/// Nothing if the nodes are not a mesh or torus or differ in their slots, or if no fold fits: the lengths of the axes
/// must be products of factors that fit into the levels. O(ranks x digits), and a search that depends on the number of
/// factors alone.
std::optional<GridEmbedding> embed_grid_in_mesh(const MapProblem& problem, const Grid& grid);

}  // namespace rankloom
