// SPDX-License-Identifier: Apache-2.0
// evaluate: what is asked of the simulator and what it answers, as values and as the JSON between the two programs.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/evaluate/simulate/platform.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// One program that runs: what each rank does, and where it is.
struct SimulatedJob {
  std::string name;
  std::vector<std::string> traces;  ///< One file for each rank, in SimGrid's time-independent format.
  std::vector<Core> core_of;
  double start = 0;  ///< Seconds.
};

/// Jobs that run at once on one machine.
struct SimulationRequest {
  Topology topology;
  PlatformOptions platform = {};
  double speed =
      1;  ///< Of the processors, relative to those on which work was recorded (1 ns of `compute` takes 1 ns).
  /// Messages of fewer bytes are sent without waiting for the receiver, as MPI libraries do. Traces that were made wait
  /// for all their messages anyway, and 0 is quicker to simulate.
  std::uint32_t eager = 65'536;
  std::vector<SimulatedJob> jobs = {};
};

struct JobTimes {
  std::string name;
  double seconds = 0;  ///< From its start until its last rank ends.
  double start = 0;
  std::vector<double> rank_seconds;  ///< The same for each rank.
};

struct SimulationResult {
  std::vector<JobTimes> jobs;
  double seconds = 0;                ///< Until the last job ends.
  std::uint64_t routes_checked = 0;  ///< Pairs of cores whose route was compared with the platform's.
  double wall_seconds = 0;           ///< How long the simulation itself took.
};

/// A line of JSON; the topology inside is written as topology files are.
std::string write_request(const SimulationRequest& request);
Result<SimulationRequest> read_request(const FileContents& file);
std::string write_result(const SimulationResult& result);
Result<SimulationResult> read_result(const FileContents& file);

/// Every job has a trace and a core for each rank, and every core is one of the machine.
Result<void> check_request(const SimulationRequest& request);

}  // namespace rankloom
