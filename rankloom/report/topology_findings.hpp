// SPDX-License-Identifier: Apache-2.0
// report: warnings about a valid machine, as `rankloom topo check` lists them.
#pragma once

#include <string>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct TopologyFinding {
  std::string what;
  std::string hint;  ///< What to change if this is a mistake.
};

/// The findings, most important first. O(cores).
std::vector<TopologyFinding> check_topology(const Topology& topology);

}  // namespace rankloom
