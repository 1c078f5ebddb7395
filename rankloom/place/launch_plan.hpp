// SPDX-License-Identifier: Apache-2.0
// place: the user's own command, changed so that his launcher follows the mapping and every rank says where it is.
#pragma once

#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/launchers.hpp"

namespace rankloom {

/// What the plan must know of where it will run.
struct LaunchSurroundings {
  std::string folder;   ///< For the launcher's files and, below "report", the reports of the ranks.
  std::string wrapper;  ///< rankloom-bind, by a path that the ranks' hosts know too.
  EmitOptions::Bind bind = EmitOptions::Bind::core;
  bool in_slurm_job = false;
};

struct LaunchPlan {
  std::vector<LauncherFile> files;
  LauncherCommand command;
  std::vector<std::string> replaced;  ///< Options of the user whose place the mapping takes, as he wrote them.
};

/// Fails when the command does not start the mapping's ranks, or asks for something that the launcher would silently do
/// otherwise; the remedy says what to leave out or write instead.
Result<LaunchPlan> plan_launch(const LaunchCommand& command, const Deployment& deployment,
                               const LaunchSurroundings& surroundings);

}  // namespace rankloom
