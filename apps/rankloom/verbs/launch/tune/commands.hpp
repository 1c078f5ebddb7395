// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: the arguments of `rankloom tune`, and the commands of rankloom that do the same as its steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/evaluate/statistics.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

struct TuneArguments {
  Argv command;          ///< How the user starts the program.
  std::string profile;   ///< Empty: record it.
  std::string topology;  ///< Empty: discover it.
  std::string mapper = "auto";
  std::string output;  ///< The directory for all results; empty: PROGRAM.tune.
  ComparisonOptions comparison;
  std::size_t candidates = 1;           ///< Mappings that run to find the fastest, which is then compared.
  std::optional<std::size_t> max_runs;  ///< Empty: the default, or the number of --runs if that is larger.
  double max_seconds = 30 * 60;         ///< Beyond --runs, no run is started that would end later.
  std::string metric;                   ///< A regular expression for a time in the program's output; empty: wall time.
  bool higher_is_better = false;        ///< The metric is a rate.
  bool probe = false, lab = false, predict = false;
  bool try_smt = false;  ///< Also measure another number of hardware threads per core.
  bool force = false;    ///< Replace the results of another run.
};

/// The commands of rankloom that do the same as the steps of `tune`. `smt`: of the mapping with another number of
/// hardware threads per core.
class TuneCommands {
 public:
  TuneCommands(const TuneArguments& arguments, const LaunchCommand& launch) : arguments_(arguments), launch_(launch) {}

  /// The path of a file in the output directory.
  std::string file(const std::string& name) const;
  std::string profile() const { return arguments_.profile.empty() ? file("app.prof") : arguments_.profile; }
  std::string machine() const { return arguments_.topology.empty() ? file("machine.json") : arguments_.topology; }
  std::string mapping(bool smt = false) const { return file(smt ? "mapping-smt.txt" : "mapping.txt"); }
  /// Of a mapping that runs to find the fastest; counted from 1.
  static std::string candidate_name(std::size_t number) { return "mapping-" + std::to_string(number) + ".txt"; }
  std::string launch_directory(bool smt = false) const { return file(smt ? "launch-smt" : "launch"); }
  std::string default_directory() const { return file("default"); }

  /// The launcher with its options, without the program, to start other programs on the same hosts.
  Argv launcher() const;

  Argv doctor() const;
  Argv record() const;
  Argv discover() const;
  Argv show() const;
  Argv map(bool oversubscribe, const SlotShapes& slots, bool smt = false) const;
  /// Finds the mappings of --candidates.
  Argv candidates(bool oversubscribe, const SlotShapes& slots) const;
  /// `baseline` names the default placement.
  Argv predict(const std::string& baseline) const;
  /// The name of the default placement, before the profile is read: recorded, or that of the launcher.
  std::string expected_baseline() const;
  Argv run() const { return run(mapping()); }
  Argv run(const std::string& mapping_file) const;
  Argv run(const SlotShapes& slots, bool smt) const { return smt ? run_smt(slots, arguments_.command) : run(); }
  /// `slots` override what the command says about them.
  Argv run_smt(const SlotShapes& slots, const Argv& command) const;
  Argv emit(bool smt = false) const;
  Argv report() const;

  /// Every command, each after a comment.
  std::string text() const;

 private:
  void add_measurement(const SlotShapes& other, std::string& lines) const;
  Argv map_with(const Argv& options, bool oversubscribe, const SlotShapes& slots) const;
  std::size_t first_runs(const std::vector<Look>& looks) const;
  Argv with_command(Argv argv) const;

  const TuneArguments& arguments_;
  const LaunchCommand& launch_;
};

}  // namespace rankloom::app
