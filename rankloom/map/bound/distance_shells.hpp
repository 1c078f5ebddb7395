// SPDX-License-Identifier: Apache-2.0
// map/bound: how many slots there are within each distance of a core: the machine as the bounds see it.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {

/// A number of slots around a core. For any core that a rank is placed on, at most slots - 1 of its partners fit inside
/// the shell; traffic with the others costs at least `step` more than traffic inside.
struct DistanceShell {
  std::uint64_t slots;
  PairCost step;   ///< Both components are at least 0.
  bool is_object;  ///< The shell is an object of the machine: it is the same for all its cores. Else a neighbourhood.
};

/// Traffic between two different ranks costs at least `nearest` plus the steps of all shells that it leaves.
struct DistanceShells {
  PairCost nearest;
  PairCost self;                      ///< A lower bound on the cost of traffic of a rank with itself.
  std::vector<DistanceShell> shells;  ///< Per component (bytes, messages) with rising numbers of slots.
};

/// For every cost model except congestion. `max_partners` is the largest number of partners of a rank: shells with more
/// slots than that are not needed. O(cores x levels) on trees, tori and meshes; O(nodes²) on other networks and on
/// tables. On other networks with more than 2,048 nodes, all nodes count as adjacent.
DistanceShells distance_shells(const MapProblem& problem, std::uint64_t max_partners);

}  // namespace rankloom
