// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: runs simulations in separate processes, because SimGrid has global state and ends the process on
// errors. Several simulations run concurrently.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/simulate/simulation_request.hpp"

namespace rankloom {

struct SimulationOptions {
  std::string simulator;                          ///< Path of rankloom-simulate; empty: not installed.
  std::chrono::milliseconds time_limit{600'000};  ///< Per simulation.
  std::uint32_t max_processes = 0;                ///< Concurrent simulations; 0: one per processor.
  std::string install_hint = "install SimGrid, then build rankloom again";  ///< If the simulator is not installed.
};

/// One result per request, in the same order. The first failure ends all simulations. Deterministic: equal requests
/// have equal results. Errors: the simulator is missing, failed (the error contains its last messages), or exceeded the
/// time limit.
Result<std::vector<SimulationResult>> simulate(std::span<const SimulationRequest> requests,
                                               const SimulationOptions& options, Progress& progress);

}  // namespace rankloom
