// SPDX-License-Identifier: Apache-2.0
// map/multilevel/refinement: FM refinement of a bipartition (Fiduccia, Mattheyses 1982).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

/// One weight per side.
using SideWeights = std::array<std::uint64_t, 2>;

struct Bipartition {
  std::vector<std::uint8_t> side_of;
  double cut = 0;              ///< With the pulls of vertices that are not on the side to which they are pulled.
  std::uint64_t overload = 0;  ///< Vertex weight above the maximum block weights; 0 if all vertices have weight 1.

  bool better_than(const Bipartition& other) const {
    return overload != other.overload ? overload < other.overload : cut < other.cut;
  }
};

/// FM passes, each with rollback to its best prefix, until a pass gains nothing, at most `passes`. With
/// `use_flow`, a search by maximum flows follows if the block weights leave slack and the graph has no pulls. Reduces
/// the overload of sides that are too heavy; the cut never grows once both sides fit.
Bipartition fm_bipartition(const WeightedGraph& graph, const SideWeights& max_block_weight,
                           std::vector<std::uint8_t> side_of, std::uint32_t passes, bool use_flow);

}  // namespace rankloom::multilevel
