// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: compares simulated messages with the costs of the machine, and adapts the platform until they
// agree.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/evaluate/simulate/simulate.hpp"

namespace rankloom {

/// A pair of cores that diverges at one level; for a routed network the closest and the most distant nodes.
struct CalibratedPair {
  std::size_t level = 0;
  Core from{}, to{};
  Cost expected;         ///< By the topology, in seconds.
  Cost uncalibrated;     ///< Of a simulated ping-pong before the calibration.
  Cost calibrated;       ///< After the calibration.
  double deviation = 0;  ///< After the calibration: the larger one of the shortest and the longest message.
};

struct Calibration {
  std::vector<CalibratedPair> pairs;
  std::vector<CostFactor> factors;  ///< By level.
  std::uint32_t rounds = 0;
  double max_deviation() const;
};

/// Simulates a ping-pong of 1 byte and of 1 MB for one pair of cores per level, then corrects inverse bandwidth and
/// latency of the level, until all deviations are below 0.01 % or nothing changes. Needs 2 simulations per pair and
/// round.
Result<Calibration> calibrate(const Topology& topology, const SimulationOptions& options, Progress& progress);

/// The factors in the JSON of `rankloom simulate --calibrate`, by level. All are above 0.
Result<std::vector<CostFactor>> read_calibration(const FileContents& file);

}  // namespace rankloom
