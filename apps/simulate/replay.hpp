// SPDX-License-Identifier: Apache-2.0
// apps: jobs replayed on a platform by SimGrid. Only replay.cpp knows its interface, because that moves.
#pragma once

#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/simulate/request.hpp"

namespace rankloom {

/// Once in a process. SimGrid ends the process with a message when a trace cannot be replayed.
Result<SimulationResult> replay(const SimulationRequest& request);

}  // namespace rankloom
