// SPDX-License-Identifier: Apache-2.0
// apps/arguments: the options of every verb that predicts times: which trace is replayed, and how.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/evaluate/simulate/simulate.hpp"
#include "rankloom/evaluate/simulate/traces.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// The trace files of one program. Files of a synthesised trace are removed together with this value.
struct ReplaySource {
  std::vector<std::string> files;
  std::string source;                         ///< "trace", or "profile" if the trace is synthesised.
  std::optional<SyntheticTrace> synthesised;  ///< From a profile.
  std::shared_ptr<TemporaryDirectory> directory;
  /// "3 of 416 rounds synthesised from the profile", "the recorded trace"
  std::string summary() const;
  /// {source, iterations, rounds, messages}
  Json json() const;
};

struct SimulationArguments {
  SynthesisOptions synthesis;
  SimulationOptions options;
  std::string trace;
  std::string calibration;
  double speed = 1;
  std::vector<CostFactor> factors;  ///< Of the calibration, by level of the machine.

  void describe_replay(CLI::App& app);
  /// Reads the calibration file and finds the simulator. Call this once before the functions below.
  Result<void> prepare();
  /// The trace given by --trace, the profile itself if it is a trace, or a trace synthesised from the profile.
  Result<ReplaySource> replay_source(const ProfileArguments& from, const Profile& profile,
                                     std::string_view format) const;
  /// Gives each of these requests, which have one job, the traces for its placement. The result owns the files. The
  /// instance has its profile.
  Result<std::vector<ReplaySource>> set_traces(const ProfileArguments& from, const Instance& instance,
                                               std::span<SimulationRequest> requests) const;
  SimulationRequest request(const Topology& topology) const {
    return {.topology = topology, .factors = factors, .speed = speed, .jobs = {}};
  }
  /// The simulated seconds of the program with each of these placements: those of the replayed rounds, times the number
  /// of rounds of the complete run. The instance has its profile.
  Result<std::vector<double>> simulate_placements(const ProfileArguments& from, const Instance& instance,
                                                  std::span<const std::span<const Core>> placements,
                                                  Progress& progress) const;
};

}  // namespace rankloom::app
