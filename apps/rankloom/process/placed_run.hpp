// SPDX-License-Identifier: Apache-2.0
// apps/process: launches a program as a mapping places it and verifies where every rank runs. The functions of
// `rankloom run`, also called by `rankloom tune`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/output_directory.hpp"
#include "rankloom/core/system/temporary_directory.hpp"
#include "rankloom/place/launch_plan.hpp"
#include "rankloom/place/verify.hpp"

namespace rankloom::app {

/// The directory for the launcher's files and the reports of the ranks: the one that the user names, or a temporary one
/// that is removed after the run. The temporary one is in the working directory, because all hosts see the program
/// there.
class RunDirectory {
 public:
  /// Creates the directory. Empty: a temporary directory.
  Result<void> create(const std::string& name, OutputDirectory::Existing existing);
  const std::string& path() const { return path_; }
  /// Writes the launcher's files and removes the reports of earlier runs.
  Result<void> write(const std::vector<LauncherFile>& files);

 private:
  std::string path_;
  std::optional<OutputDirectory> kept_;
  std::optional<TemporaryDirectory> temporary_;
};

/// Writes the files of a launcher into a directory.
Result<void> write_launcher_files(const std::vector<LauncherFile>& files, OutputDirectory& directory);

/// Ranks can only be launched on hosts with names. A machine of one node without a name is this host.
Result<void> require_host_names(Deployment& deployment, bool named);

/// For a launch from this process with files in this directory.
LaunchContext launch_context(const std::string& directory, EmitOptions::Bind bind);

/// The user's command as it is, except that every rank reports where it runs into a directory.
Result<LaunchPlan> plan_unchanged(const LaunchCommand& command, const LaunchContext& context);

/// The reports of the last run in this directory. The last report of a rank counts.
Result<std::vector<BindingReport>> read_rank_reports(const RunDirectory& directory);

struct PlacedRun {
  int status = 0;      ///< Of the program.
  double seconds = 0;  ///< From the start of the launcher to its end.
  Verification verification;
};

/// Runs the plan with its files in `directory`, and compares the reports of the ranks with the deployment.
Result<PlacedRun> run_placed(const LaunchPlan& plan, const Deployment& deployment, EmitOptions::Bind bind,
                             RunDirectory& directory, const ProgramStreams& streams);

}  // namespace rankloom::app
