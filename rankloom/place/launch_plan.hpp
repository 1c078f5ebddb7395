// SPDX-License-Identifier: Apache-2.0
// place: the user's own command, changed so that the launcher follows the mapping and every rank reports where it runs.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

struct LaunchPlan {
  std::vector<LauncherFile> files;
  std::vector<std::string> environment;  ///< "NAME=value", for the launcher.
  LaunchCommand command;
  std::vector<std::string> replaced;  ///< Options of the user that the mapping replaces, as written.
  std::string replacement;            ///< The options that replace them.

  /// As it is typed into a shell.
  std::string text() const { return shell_text(environment, command.argv()); }
  /// "--rankfile f instead of --bind-to core"; empty: nothing is replaced.
  std::string replacements() const;
};

/// The variables for the launcher of any run, as "NAME=value", without those that the user has set.
std::vector<std::string> launcher_variables(const LaunchCommand& command, const LaunchContext& context);

/// Fails when the command has an option that conflicts with every mapping; the hint names what to write instead.
Result<void> check_launch(const LaunchCommand& command, const LaunchContext& context);

/// Fails when the command does not start as many ranks as the mapping places, or when it has an option that conflicts
/// with the mapping; the hint names what to leave out or to write instead.
Result<LaunchPlan> plan_launch(const LaunchCommand& command, const Deployment& deployment,
                               const LaunchContext& context);

}  // namespace rankloom
