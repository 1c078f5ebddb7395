// SPDX-License-Identifier: Apache-2.0
// map/multilevel: a graph divided into parts that are all equally far from each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/multilevel/bisection.hpp"

namespace rankloom::multilevel {

struct DivisionEffort {
  BisectionEffort cut;
  std::uint32_t tries = 1;              ///< Whole runs; the best is kept.
  std::uint32_t vertices_a_part = 100;  ///< Where coarsening ends.
  std::uint32_t passes = 3;             ///< Of the k-way search on every level.
  std::uint32_t flows = 1;              ///< Times that all borders are searched by flows on every level.
  Deadline deadline = {};  ///< When it passes, what is not yet cut is divided in the order of the vertices.
};

struct Division {
  std::vector<std::uint32_t> part_of;
  double cut = 0;  ///< Infinite if nobody has looked, as the time was up.
};

/// No part holds more than its room, if vertices are single ranks and the rooms hold all. Multilevel: the coarsest
/// graph is cut in two again and again, on every level improve_cut refines. One thread, but for the coarsening.
Division divided(const WeightedGraph& graph, std::span<const std::uint64_t> room, const DivisionEffort& effort,
                 std::uint64_t seed);

}  // namespace rankloom::multilevel
