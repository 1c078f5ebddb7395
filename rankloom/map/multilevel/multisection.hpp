// SPDX-License-Identifier: Apache-2.0
// map/multilevel: the graph cut along the machine, from the whole down to the cores.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/map/multilevel/division.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom::multilevel {

struct MultisectionEffort {
  DivisionEffort division;
  double cheap = 20;  ///< Cuts that cost so many times less than the dearest get the least work.
  bool pack = true;   ///< Parts may be filled to the brim while others stay empty; else all are filled alike.
};

/// The core of every vertex. The children of a part of the machine are equally far from each other, so each part is cut
/// in two again and again until every child has its share, and each share goes on with its child. Cores hold no more
/// than their places if vertices are single ranks. Cuts that cost little for their machine get little work. Parallel
/// over the parts; the same for any number of threads.
std::vector<Core> multisected(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                              const MultisectionEffort& effort, std::uint64_t seed);

}  // namespace rankloom::multilevel
