// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: runs the program with the default placement and with mappings in turn, and compares the
// times.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/rankloom/process/job_mapping.hpp"
#include "apps/rankloom/process/placed_run.hpp"
#include "apps/rankloom/verbs/launch/tune/commands.hpp"
#include "apps/rankloom/verbs/launch/tune/logs.hpp"
#include "apps/rankloom/verbs/launch/tune/result.hpp"

namespace rankloom::app {

/// A mapping that is compared with the default placement.
struct Candidate {
  JobMapping job;
  LaunchCommand launch;    ///< How the user starts the program; with other hardware threads, Slurm reserves others.
  bool smt = false;        ///< With another number of hardware threads per core.
  std::size_t number = 0;  ///< Of a mapping that runs to find the fastest, from 1; 0: it is compared.
  Deployment deployment;
  TuneMeasurement measurement = {};

  /// The beginning of the names of its logs.
  std::string log() const { return number > 0 ? "candidate-" + std::to_string(number) : smt ? "smt" : "after"; }
};

/// Measures candidates. What it finds is written to the candidates and to `result`.
class PlacementMeasurement {
 public:
  PlacementMeasurement(const TuneArguments& arguments, const LaunchCommand& launch, const TuneCommands& commands,
                       const TuneLogs& logs, EmitOptions::Bind bind, std::vector<Candidate>& candidates,
                       TuneResult& result)
      : arguments_(arguments),
        launch_(launch),
        commands_(commands),
        logs_(logs),
        bind_(bind),
        candidates_(candidates),
        result_(result) {}

  /// Runs the candidates, by successive halving within this time, and writes their times to `result`, which lists the
  /// candidates in the same order. Those with which the program fails are left out. Nothing: it fails with all of them,
  /// and the result says so. The comparison with the default placement must use other runs.
  Result<std::optional<std::size_t>> find_fastest(double max_seconds);
  /// A candidate runs until its comparison with the default placement is over. The probability of a false claim holds
  /// for all comparisons together. Beyond --runs, no run is started that would end after `max_seconds`.
  Result<void> measure(double max_seconds);

 private:
  /// The user's command as it is, except that every rank reports where it runs, as with a mapping: both placements are
  /// launched and timed by the same code.
  Result<LaunchPlan> plan_default(const LaunchCommand& launch, const std::string& directory) const;
  /// nullptr: the default placement.
  Result<PlacedRun> run_once(const Candidate* candidate, const LaunchCommand& launch, const std::string& log) const;
  /// The equivalent command.
  Argv command_of(const Candidate* candidate) const;
  /// Runs the program with a candidate, or with the default placement (nullptr); number 0 is the warm-up. Nothing: the
  /// program failed, and the result says so.
  Result<std::optional<PlacedRun>> run_placement(const Candidate* candidate, std::size_t number);
  /// With --metric, the last time that the program printed, or the time of one unit of work at the last rate.
  Result<void> measure_time(PlacedRun& run, const std::string& log);
  /// The time that the launcher takes with a program that does nothing; nothing if it cannot be run. The program
  /// sleeps, because mpirun of Open MPI 5.0.7 now and then does not end if its ranks end at once.
  std::optional<double> start_time(const Candidate* candidate) const;
  /// The minimum of three start times with each placement: launchers start ranks faster or slower with a rankfile.
  void measure_start();
  /// The first run of a placement is slower, because files are read from disk. The recording was the first run with the
  /// default placement. A launcher may refuse other hardware threads: then they are not compared.
  Result<void> warm_up();
  /// One run with each placement; `rounds`: how many there are before the next look at the times.
  Result<void> run_round(std::size_t round, std::size_t rounds, std::span<Candidate* const> running);

  const TuneArguments& arguments_;
  const LaunchCommand& launch_;
  const TuneCommands& commands_;
  const TuneLogs& logs_;
  EmitOptions::Bind bind_;
  std::vector<Candidate>& candidates_;
  TuneResult& result_;
  double done_ = -1;  // the share of the runs before the next look at the times, for progress reports
};

}  // namespace rankloom::app
