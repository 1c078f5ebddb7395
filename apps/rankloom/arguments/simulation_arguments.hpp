// SPDX-License-Identifier: Apache-2.0
// apps: the arguments of every verb that predicts: how costs become seconds, what is replayed, and the running itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "apps/rankloom/output.hpp"
#include "rankloom/core/progress.hpp"
#include "rankloom/evaluate/simulate/scratch_folder.hpp"
#include "rankloom/evaluate/simulate/simulate.hpp"
#include "rankloom/evaluate/simulate/synthesise.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

/// What one program does, as files, and where they come from. Files of a trace that was made go with this value.
struct Replayed {
  std::vector<std::string> files;
  std::string source;                    ///< "trace", or "profile" when it was made from one.
  std::optional<SynthesisedTrace> made;  ///< Of a profile.
  std::shared_ptr<ScratchFolder> folder;
  /// "3 of 416 rounds of the profile", "the recorded trace"
  std::string sentence() const;
  /// {source, iterations, rounds, messages}
  Json json() const;
};

struct SimulationArguments {
  PlatformOptions platform;
  SynthesisOptions synthesis;
  SimulationOptions options;
  std::string trace;
  std::string calibration;
  double speed = 1;

  void describe_platform(CLI::App& app);
  void describe_replay(CLI::App& app);
  /// Reads what calibration found, and finds the simulator. Once, before the others.
  Result<void> prepare();
  /// The trace that was named, or that the profile itself is, or one that is made of the profile.
  Result<Replayed> replayed(const ProfileArguments& from, const Profile& profile, std::string_view format) const;
  SimulationRequest request(const Topology& topology) const {
    return {.topology = topology, .platform = platform, .speed = speed, .jobs = {}};
  }
};

}  // namespace rankloom::app
