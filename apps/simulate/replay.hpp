// SPDX-License-Identifier: Apache-2.0
// apps/simulate: replays jobs with SimGrid. Only replay.cpp uses the interface of SimGrid, which changes between
// versions.
#pragma once

#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/simulate/simulation_request.hpp"

namespace rankloom {

/// Call once per process. SimGrid prints a message and ends the process if a trace cannot be replayed.
Result<SimulationResult> replay(const SimulationRequest& request);

}  // namespace rankloom
