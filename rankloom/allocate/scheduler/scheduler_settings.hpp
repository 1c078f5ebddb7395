// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: the configuration file of a scheduler plugin: the machine, the names of its nodes, the policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

struct SchedulerSettings {
  /// A file of any topology source, Slurm's topology.conf and topology.yaml among them, or a topology string.
  std::string topology;
  std::vector<std::string> nodes =
      {};  ///< The names that the scheduler uses, in node order; empty: those of the topology.
  std::string policy = "closed-best";
  std::optional<Exclusive> exclusive = {};  ///< Empty: the default of the network.
  AllocationOptions allocation = {};
  /// A directory in which every user has a subdirectory with learned profiles; empty: those of the users.
  std::string profiles = {};
  std::uint32_t max_profiles = 64;  ///< Learned profiles per user.
  std::uint32_t cpus = 0;           ///< CPUs per node as the scheduler counts them; 0: the cores of the topology.
};

/// Lines of "key = value"; # starts a comment. Unknown keys, values out of range and a missing topology are errors.
Result<SchedulerSettings> read_scheduler_settings(const FileContents& file);

/// The topology of a configuration file, for discover's load_machine(). Relative paths start at the directory of the
/// configuration file.
std::string topology_source(const SchedulerSettings& settings, const std::string& path);

/// The machine of a scheduler with the names of its nodes.
struct NamedMachine {
  Allocator allocator;
  std::vector<std::string> names;  ///< By node.
};
/// Fails if the number of names differs from the number of nodes, if a name occurs twice, or if the machine has no
/// routes. `path`: the configuration file, for errors.
Result<NamedMachine> name_machine(MachineSpec machine, const SchedulerSettings& settings, const std::string& path);

}  // namespace rankloom
