// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: one level of a mesh or torus of nodes.
#pragma once

#include <algorithm>
#include <cstdint>

namespace rankloom {

/// One level of the machine: slots of a core, parts inside a node, or a dimension of the network.
struct MachineLevel {
  std::uint32_t size;
  double first_step, next_step;  ///< Distance to the next position, and of each further step.
  bool in_network, wraps;

  double distance(std::uint32_t steps) const {
    if (steps == 0) return 0;
    if (wraps) steps = std::min(steps, size - steps);
    return first_step + next_step * (steps - 1);
  }
};

}  // namespace rankloom
