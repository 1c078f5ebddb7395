// SPDX-License-Identifier: Apache-2.0
// apps/verbs/machine: discovers a machine: this host, hosts that a launcher reaches, or files that describe a network
// and its nodes. The function of `rankloom topo discover`, also called by `rankloom tune`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom::app {

struct DiscoverArguments {
  std::string network;             ///< A description of the network; empty: none.
  std::vector<std::string> nodes;  ///< Descriptions of node interiors: "gpu.xml", or for some hosts "gpu[1-4]=gpu.xml".
  std::string hosts;               ///< Only these hosts: "n[1-16],m3"; empty: all.
  bool slurm = false;              ///< Only the hosts of the Slurm allocation that this process runs in.
  std::string rsh = "ssh";         ///< The command that runs a program on a host of `hosts`.
  bool bound = false;              ///< Only the processing units to which this process is bound.
  std::vector<std::string> launcher;  ///< A command that starts at least one process per host: "mpirun".

  /// Receives lines of the launcher's output that are not reports of hosts. By default they go to standard error.
  std::function<void(std::string_view)> other_output = {};
  std::string error_log = {};  ///< The file for the launcher's standard error; empty: this program's standard error.
};

/// This host, if no argument selects anything else.
Result<MachineSpec> discover_machine(const DiscoverArguments& arguments);

}  // namespace rankloom::app
