// SPDX-License-Identifier: Apache-2.0
// evaluate: simulations, each in a process of its own: SimGrid keeps its state in the process and ends it when
// something is wrong, and several run at once so.
#pragma once

#include <chrono>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/simulate/request.hpp"

namespace rankloom {

struct SimulationOptions {
  std::string helper;                             ///< Path of rankloom-simulate; empty: it was not built.
  std::chrono::milliseconds time_limit{600'000};  ///< For each simulation.
  std::uint32_t at_once = 0;                      ///< Processes side by side; 0: one for each processor.
};

/// One result for each request, in their order; the first that fails ends all. Deterministic: the same requests give
/// the same seconds. Errors: the helper is missing, ended badly (its last words are in the message), or took too long.
Result<std::vector<SimulationResult>> simulate(std::span<const SimulationRequest> requests,
                                               const SimulationOptions& options, Progress& progress);

}  // namespace rankloom
