// SPDX-License-Identifier: Apache-2.0
// discover: builds a machine from switches that name their children, as Slurm files and InfiniBand trees do, and checks
// that the switches form a tree.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct SwitchEntry {
  std::string name;
  std::vector<std::string> switches = {};  ///< Names of child switches.
  std::vector<std::string> hosts = {};     ///< Hosts connected to it.
  std::uint64_t line = 0;
  bool lists_all = false;  ///< `hosts` contains all hosts below the switch, not only those connected to it.
};

/// Nodes of one core each below levels of this kind. All leaf switches form one level, whatever their distance from the
/// top. Fails if a host has two switches, or a switch has two parents, is its own ancestor or has no entry.
/// Disconnected parts and unequal depths are remarks.
Result<MachineSpec> build_switch_tree(const std::string& source, const std::string& kind,
                                      const std::vector<SwitchEntry>& entries);

}  // namespace rankloom
