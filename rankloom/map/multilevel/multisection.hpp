// SPDX-License-Identifier: Apache-2.0
// map/multilevel: recursive multisection along the machine hierarchy (Schulz, Träff 2017): from the root down to the
// cores.
#pragma once

#include <cstdint>

#include "rankloom/core/array.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/map/multilevel/kway_partition.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom::multilevel {

struct MultisectionOptions {
  PartitionOptions partition;
  /// The steps with the highest cut cost decide most of the cost, and the seed most of their cut.
  struct {
    std::uint32_t repetition_factor = 1;
    std::uint32_t runs = 1;
    std::uint32_t recombinations = 0;
    std::uint32_t v_cycles = 0;
    std::uint32_t annealing_sweeps = 0;
  } top;
  /// A step is light if its cut cost is less than 1/light_step_ratio of the highest cut cost of any step. The cut cost
  /// is what a byte between two children costs more than a byte inside one child. Light steps use one repetition and no
  /// flow refinement.
  double light_step_ratio = 20;
  /// The first coarser graph of the largest steps.
  FirstLevel largest_first_level = FirstLevel::stored;
  /// Fill some parts of the machine completely and leave others empty; otherwise all are filled alike.
  bool pack = true;
};

/// The core of every vertex. The graph is partitioned into one block per child of the machine, and each block
/// recursively for its child. Children are equally distant, except for the nodes of a network (partition_network()). No
/// core exceeds its capacity if vertices have weight 1. Runs in parallel; the result does not depend on the number of
/// threads.
Array<Core> multisection(const WeightedGraph& graph, const MachineTree& tree, const Distance& distance,
                         const MultisectionOptions& options, std::uint64_t seed);

}  // namespace rankloom::multilevel
