// SPDX-License-Identifier: Apache-2.0
// report/layout: the insides of nodes, from the cores up. Nodes of one shape share one.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/model/topology.hpp"
#include "rankloom/report/layout/machine_layout.hpp"

namespace rankloom {

/// A box has a row above and below and a column beside what is in it.
inline constexpr double box_frame = 1;

struct NodeTemplates {
  std::vector<MachineTemplate> templates;
  std::vector<std::int32_t> of_node;  ///< By node.
};

/// O(cores).
NodeTemplates node_templates(const Topology& topology);

/// The cores of an object: from the first up to, but without, the end.
inline std::uint32_t first_core(const Topology& topology, std::size_t level, std::uint32_t object) {
  return index(topology.first_core(level, object));
}
inline std::uint32_t end_core(const Topology& topology, std::size_t level, std::uint32_t object) {
  return object + 1 < topology.levels()[level].objects ? first_core(topology, level, object + 1)
                                                       : topology.core_count();
}

}  // namespace rankloom
