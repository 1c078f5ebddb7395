// SPDX-License-Identifier: Apache-2.0
// place/online: the gain of a restart. A running program cannot move ranks to other nodes; this estimates what a
// mapping for the recorded traffic would gain at the next start.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// A node as reported by its agent.
struct RestartNode {
  std::string host;
  MachineSpec machine;
  std::vector<std::uint32_t> ranks;  ///< Ranks in MPI_COMM_WORLD.
  std::vector<std::uint32_t> cores;  ///< The initial core of each of these ranks.
};

struct RestartGain {
  double cost_start = 0, cost_mapped = 0;    ///< Under the model `time`, in seconds of all ranks.
  double bytes_start = 0, bytes_mapped = 0;  ///< Bytes between nodes.
};

/// Maps the traffic of the whole run by `auto`. Every rank of the traffic must be on one of the nodes.
Result<RestartGain> restart_gain(const CommGraph& traffic, const std::vector<RestartNode>& nodes);

}  // namespace rankloom
