// SPDX-License-Identifier: Apache-2.0
// map/bound: how much room there is near a core: the machine as bounds on the cost see it.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {

/// Places around a core. Whichever core a rank sits on, at most places - 1 of its partners sit inside; those outside
/// cost at least `step` more than they would inside.
struct Shell {
  std::uint64_t places;
  PairCost step;  ///< Nothing in it is negative.
  bool closed;    ///< Everybody inside has the same ones inside: an object of the machine, not a neighbourhood.
};

/// A pair of different ranks costs at least `nearest`, and the steps of all shells that it crosses.
struct Shells {
  PairCost nearest;
  PairCost self;              ///< At least this for what a rank sends to itself.
  std::vector<Shell> shells;  ///< Those of one component (bytes, messages) with rising places.
};

/// For every model but congestion. `partners`: how many places around a core are of interest, the most partners that a
/// rank has. O(cores x levels) on trees, tori and meshes; O(nodes²) on other networks and on tables, where beyond some
/// thousands of nodes all are taken for neighbours.
Shells shells_of(const MapProblem& problem, std::uint64_t partners);

}  // namespace rankloom
