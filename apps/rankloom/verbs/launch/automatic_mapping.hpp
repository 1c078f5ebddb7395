// SPDX-License-Identifier: Apache-2.0
// apps/verbs/launch: the mapping of `rankloom run --auto`: the profile comes from the user's store, the machine from
// the hosts that the launcher reaches.
#pragma once

#include <string>

#include "apps/rankloom/arguments/deployment_arguments.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

struct AutomaticMapping {
  LaunchCommand command;
  std::string unbound_by;  ///< The option of the command that leaves ranks unbound; empty: they are bound.
  Deployment deployment;
  EmitOptions::Bind bind;
  std::string profile;
  bool same_arguments = false;  ///< The profile was recorded with the same arguments of the program.
  double gain_percent = 0;      ///< By which the communication cost is less than with the default placement.
};

/// `directory` is for intermediate files. Of the arguments only the machine and the settings of ranks count. Fails when
/// the command cannot be parsed, has no profile in the store, or gains nothing by a mapping: then the command is run as
/// it is.
Result<AutomaticMapping> map_automatically(const Argv& command, const std::string& program,
                                           const DeploymentArguments& arguments, const std::string& directory);

}  // namespace rankloom::app
