// SPDX-License-Identifier: Apache-2.0
// map/multilevel: a graph cut in two, with as little weight as possible across.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "rankloom/map/multilevel/weighted_graph.hpp"

namespace rankloom::multilevel {

struct Bisection {
  std::vector<std::uint8_t> side_of;
  double cut = 0;
  std::uint64_t overload = 0;  ///< What does not fit: only where vertices are large.

  bool better_than(const Bisection& other) const {
    return overload != other.overload ? overload < other.overload : cut < other.cut;
  }
};

struct BisectionEffort {
  std::uint32_t tries = 1;        ///< Multilevel runs on the graph of `decisive` vertices; the best is kept.
  std::uint32_t cycles = 0;       ///< Times that the best is coarsened again along its sides and refined.
  std::uint32_t decisive = 4000;  ///< Coarsened to so many vertices, a graph still tells good cuts from bad ones.
  std::uint32_t starts = 4;       ///< First divisions of the coarsest graph in each run.
  std::uint32_t passes = 3;       ///< Of the local search on every level, at most.
  bool flows = true;              ///< Search the border of the best by flows.
};

/// No side holds more than its room where the rooms hold everything. Coarsening by matching, first divisions grown from
/// random vertices, on every level moves with rollback (Fiduccia, Mattheyses 1982). One thread.
Bisection bisect(const WeightedGraph& graph, std::array<std::uint64_t, 2> room, const BisectionEffort& effort,
                 std::uint64_t seed);

}  // namespace rankloom::multilevel
