// SPDX-License-Identifier: Apache-2.0
// apps: the arguments by which `emit` and `run` take a mapping and the machine it was made for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launchers.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

struct DeploymentArguments {
  std::string mapping;
  std::string from;  ///< The mapping is a file of this launcher.
  std::string hosts;
  TopologyArguments topology;
  std::optional<MachineSpec> machine;  ///< In the place of a topology, when somebody knows better.
  EmitOptions::Bind bind = EmitOptions::Bind::core;

  void describe(CLI::App& app);
  Result<Deployment> load() const;
  /// Every host has a name that somebody gave it.
  bool names_hosts(const Deployment& deployment) const {
    return !hosts.empty() || names_its_hosts(deployment.topology);
  }
};

}  // namespace rankloom::app
