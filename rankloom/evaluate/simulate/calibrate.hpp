// SPDX-License-Identifier: Apache-2.0
// evaluate: does a simulated message between two cores take what the machine says? Fits the platform until it does.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/evaluate/simulate/simulate.hpp"

namespace rankloom {

/// One pair of cores, one level of the machine; on a routed network the nearest and the farthest nodes.
struct CalibratedPair {
  std::size_t level = 0;
  Core from{}, to{};
  Cost wanted;           ///< Of the topology, as seconds.
  Cost untouched;        ///< What ping-pong between them takes in the simulation, before
  Cost fitted;           ///< and after fitting.
  double deviation = 0;  ///< After fitting: of the longest and the shortest message, whichever is further off.
};

struct Calibration {
  std::vector<CalibratedPair> pairs;
  std::vector<PlatformOptions::Factor> factors;  ///< By level, top down; the platform's from now on.
  std::uint32_t rounds = 0;
  double worst() const;
};

/// Ping-pong of 1 byte and of 1 MB between a pair of each level, alone on the machine; then gap and latency of the
/// level are multiplied by what they are off, until all are within a ten thousandth or nothing changes. Simulations: 2
/// a pair and round.
Result<Calibration> calibrate(const Topology& topology, PlatformOptions platform, const SimulationOptions& options,
                              Progress& progress);

}  // namespace rankloom
