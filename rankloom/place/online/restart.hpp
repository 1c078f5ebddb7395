// SPDX-License-Identifier: Apache-2.0
// place/online: what cannot be had while a program runs: ranks on other nodes. What the next start with another mapping
// would gain, by the model.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/machine_spec.hpp"

namespace rankloom {

/// A node as its agent saw it.
struct RestartNode {
  std::string host;
  MachineSpec machine;
  std::vector<std::uint32_t> ranks;  ///< In the world,
  std::vector<std::uint32_t> cores;  ///< and on which core of the machine each began.
};

struct RestartGain {
  double cost_start = 0, cost_mapped = 0;    ///< By the model `time`, in seconds of all ranks together.
  double bytes_start = 0, bytes_mapped = 0;  ///< Between nodes.
};

/// `auto` on the whole run. Every rank of the traffic must be on one of the nodes.
Result<RestartGain> restart_gain(const CommGraph& traffic, const std::vector<RestartNode>& nodes);

}  // namespace rankloom
