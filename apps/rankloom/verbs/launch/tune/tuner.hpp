// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: the steps of `rankloom tune`. Each calls the function of another verb.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/rankloom/process/job_mapping.hpp"
#include "apps/rankloom/verbs/launch/tune/commands.hpp"
#include "apps/rankloom/verbs/launch/tune/logs.hpp"
#include "apps/rankloom/verbs/launch/tune/measurement.hpp"
#include "apps/rankloom/verbs/launch/tune/result.hpp"

namespace rankloom::app {

/// Runs the steps. Every step writes a log into the output directory.
class Tuner {
 public:
  Tuner(const TuneArguments& arguments, const LaunchCommand& launch, const JobShape& shape, OutputDirectory& directory,
        ProgressDisplay& progress, bool quiet)
      : arguments_(arguments),
        launch_(launch),
        commands_(arguments, launch),
        logs_(directory, commands_, progress, quiet),
        job_(*launch.launcher, shape, commands_.profile(), commands_.machine()) {}

  Result<TuneResult> tune();

  /// After result.json is written. Everything is measured by then, so a failure costs nothing but the page.
  bool write_page() const;

 private:
  Result<void> record();
  Result<void> discover() const;
  Result<MachineSpec> discover_hosts(const std::function<void(std::string_view)>& on_line) const;
  Result<MachineSpec> probe(const std::function<void(std::string_view)>& on_line) const;
  Result<void> summarise_profile();
  Result<void> fit();
  Result<void> map();
  /// The mappings of --candidates: those that reduce the cost or the predicted time.
  Result<void> find_candidates();
  /// Runs them, and keeps the fastest one.
  Result<void> select_fastest();
  /// Makes it the mapping that is compared with the default placement.
  Result<void> keep(const CandidateMapping& candidate);
  /// Simulates the recorded messages with the default placement, whose name it sets, and with the mapping.
  Result<void> predict(std::string& baseline);
  Result<void> add_mapping();
  Result<void> add_other_threads();
  /// OpenMP has as many threads with a mapping as with the default placement, unless ranks use other hardware threads.
  Result<void> add_candidate(JobMapping job, bool smt);
  Result<Candidate> make_candidate(const std::string& mapping, JobMapping job, bool smt) const;
  /// The call of `rankloom run` that is printed for the user.
  std::string run_text(const Candidate& candidate) const;
  const Candidate& chosen() const;
  /// Writes the launcher's files. The value is the command to type: the user's own, with the placement added.
  Result<std::string> emit() const;

  const TuneArguments& arguments_;
  const LaunchCommand& launch_;
  TuneCommands commands_;
  TuneLogs logs_;
  JobMapping job_;
  std::optional<MapResult> mapped_;
  std::vector<CandidateMapping> mappings_;  // of --candidates, by predicted time
  std::vector<Candidate> candidates_;
  TuneResult result_;
};

}  // namespace rankloom::app
