// SPDX-License-Identifier: Apache-2.0
// evaluate/simulate: the request to the simulator and its result, as values and as the JSON between the two programs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/evaluate/simulate/timeline.hpp"
#include "rankloom/model/machine/platform.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// One program: the trace and the core of each rank.
struct SimulatedJob {
  std::string name;
  std::vector<std::string> traces;  ///< One file per rank, in SimGrid's time-independent format.
  std::vector<Core> core_of;
  double start = 0;  ///< Seconds.
};

/// Jobs that run concurrently on one machine.
struct SimulationRequest {
  Topology topology;
  std::vector<CostFactor> factors = {};  ///< Of the calibration, by level; empty: 1.
  /// Of the processors, relative to those of the recording (1: 1 ns of `compute` takes 1 ns).
  double speed = 1;
  /// Smaller messages are sent without waiting for the receiver (eager protocol). Synthetic traces wait for all
  /// messages anyway, and 0 is faster to simulate.
  std::uint32_t eager = 65'536;
  std::vector<SimulatedJob> jobs = {};
  bool timelines = false;  ///< Also return what each rank does over time.
};

struct JobTimes {
  std::string name;
  double seconds = 0;  ///< From the start of the job to the end of its last rank.
  double start = 0;
  std::vector<double> rank_seconds;  ///< By rank.
  /// If requested, and if the run has at most Timeline::max_actions actions.
  std::optional<Timeline> timeline = std::nullopt;
};

struct SimulationResult {
  std::vector<JobTimes> jobs;
  double seconds = 0;                ///< Until the end of the last job.
  std::uint64_t routes_checked = 0;  ///< Pairs of cores whose routes in SimGrid were compared with the platform.
  double wall_seconds = 0;           ///< The run time of the simulation itself.
};

/// One line of JSON; contains the topology as in topology files.
std::string write_request(const SimulationRequest& request);
Result<SimulationRequest> read_request(const FileContents& file);
std::string write_result(const SimulationResult& result);
Result<SimulationResult> read_result(const FileContents& file);

/// Checks that every job has a trace and a core for each rank, and that all cores exist.
Result<void> check_request(const SimulationRequest& request);

}  // namespace rankloom
