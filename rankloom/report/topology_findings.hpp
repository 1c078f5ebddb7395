// SPDX-License-Identifier: Apache-2.0
// report: what is odd about a machine that could be built: `rankloom topo check` lists it.
#pragma once

#include <string>
#include <vector>

#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

struct TopologyFinding {
  std::string what;
  std::string hint;  ///< What to do if it was not meant so.
};

/// Remarks, most important first; empty when nothing is odd. O(cores).
std::vector<TopologyFinding> examine(const Topology& topology);

}  // namespace rankloom
