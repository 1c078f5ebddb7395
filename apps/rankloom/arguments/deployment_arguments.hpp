// SPDX-License-Identifier: Apache-2.0
// apps/arguments: a mapping and the machine that it was computed for, as arguments of `emit` and `run`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/arguments/problem_arguments.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/job_shape.hpp"
#include "rankloom/place/launchers.hpp"

namespace CLI {
class App;
}

namespace rankloom::app {

struct DeploymentArguments {
  std::string mapping;
  std::string from;  ///< The launcher whose file the mapping is; empty: a mapping of rankloom.
  std::string hosts;
  TopologyArguments topology;
  SlotArguments slot;
  std::optional<MachineSpec> machine;  ///< The machine if no topology is given.
  std::optional<EmitOptions::Bind> bind;
  RankSettings settings = {};
  bool keep_env = false;  ///< Ranks get no variables.

  void describe(CLI::App& app, bool mapping_required = true);
  /// Without options of the slot, `by_command` says what a rank occupies; without both, the mapping does.
  Result<Deployment> load(const JobShape& by_command = {}) const;
  /// How ranks are bound: as the user asks, or else as the command does.
  EmitOptions::Bind binding(const JobShape& by_command = {}) const {
    return bind.value_or(by_command.unbound_by.empty() ? EmitOptions::Bind::core : EmitOptions::Bind::none);
  }
  RankSettings rank_settings() const {
    RankSettings chosen = settings;
    chosen.variables = !keep_env;
    return chosen;
  }
  /// Whether the hosts have names, given by the user or by the topology.
  bool names_hosts(const Deployment& deployment) const {
    return !hosts.empty() || names_its_hosts(deployment.topology);
  }
};

}  // namespace rankloom::app
