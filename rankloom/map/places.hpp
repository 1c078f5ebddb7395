// SPDX-License-Identifier: Apache-2.0
// map: the places for ranks in the order of the cores: what constructions fill one after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "rankloom/map/mapper.hpp"

namespace rankloom {

/// One entry for each place, its core; at least as many as ranks. The first n of them are the block placement of n
/// ranks, so laying ranks on places in order is the launcher's default order. When cores are shared, a core has as many
/// places as the default order gives it ranks. O(places).
inline std::vector<Core> places_in_order(const MapProblem& problem) {
  std::uint64_t capacity = 0;
  for (const Core core : problem.topology.cores()) capacity += problem.topology.capacity(core);
  const std::uint32_t ranks = problem.graph.rank_count();
  if (ranks > capacity) return block_placement(ranks, problem.topology, problem.capacities);
  std::vector<Core> places;
  places.reserve(capacity);
  for (const Core core : problem.topology.cores()) {
    places.insert(places.end(), std::min(problem.capacities[core], problem.topology.capacity(core)), core);
  }
  return places;
}

}  // namespace rankloom
