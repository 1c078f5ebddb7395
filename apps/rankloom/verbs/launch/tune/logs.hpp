// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch/tune: one log per step in the output directory, and progress on standard error.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "apps/rankloom/verbs/launch/tune/commands.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/output_directory.hpp"
#include "rankloom/report/terminal/progress_display.hpp"

namespace rankloom::app {

class TuneLogs {
 public:
  /// `quiet`: without the results of the steps.
  TuneLogs(OutputDirectory& directory, const TuneCommands& commands, ProgressDisplay& progress, bool quiet)
      : directory_(directory), commands_(commands), progress_(progress), quiet_(quiet) {}

  /// A line with the result of a step.
  void print_progress(std::string_view text) const;
  /// The step that runs now.
  void begin(std::string_view step, double fraction = -1) const { progress_.report(step, fraction); }
  /// Removes the logs of an earlier call with the same output directory.
  void remove_earlier() const;
  /// The path of a log that this run writes. A file of the user is not replaced.
  std::string path(const std::string& name) const;
  /// A log that cannot be written does not stop the tuning.
  void append(const std::string& name, const std::string& text) const;

  /// Passes a step's value on. The step's log contains the output of the programs that it runs, or else the equivalent
  /// command. A failure is added to the log.
  template <class T>
  Result<T> logged(Result<T> value, const Argv& command, const std::string& log) const {
    if (!value) return propagate(fail_step(value.error(), command, log));
    log_step(command, log);
    return value;
  }

 private:
  void log_step(const Argv& command, const std::string& log) const;
  Result<void> fail_step(const Error& error, const Argv& command, const std::string& log) const;

  OutputDirectory& directory_;
  const TuneCommands& commands_;
  ProgressDisplay& progress_;
  bool quiet_;
};

}  // namespace rankloom::app
