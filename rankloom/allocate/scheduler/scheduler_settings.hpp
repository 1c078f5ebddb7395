// SPDX-License-Identifier: Apache-2.0
// allocate: the one file that configures a scheduler's plugin: which machine, which of its nodes is called what, which
// policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

struct SchedulerSettings {
  std::string topology;  ///< A file of topology JSON; relative paths begin at the configuration's folder.
  std::vector<std::string> nodes = {};  ///< The scheduler's names, node 0 first; empty: those of the topology.
  std::string policy = "closed-best";
  std::optional<Exclusive> exclusive = {};  ///< None: what suits the network.
  PlaceOptions place = {};
  std::uint32_t cpus = 0;  ///< Of a node, as the scheduler counts them; 0: the cores of the topology.
};

/// Lines of "key = value"; # begins a remark. Unknown keys, values out of range and a missing topology are errors.
Result<SchedulerSettings> read_scheduler_settings(const FileContents& file);

/// "n[1-3,5],head" → n1 n2 n3 n5 head; leading zeros are kept. As Slurm writes lists of hosts, with one pair of
/// brackets a name.
Result<std::vector<std::string>> expand_node_names(std::string_view text);

/// The machine of the settings, and what its nodes are called. Fails when there are more or fewer names than nodes, or
/// one twice.
struct NamedMachine {
  Allocator allocator;
  std::vector<std::string> names;  ///< By node.
};
Result<NamedMachine> load_scheduler_machine(const SchedulerSettings& settings, const std::string& path);

}  // namespace rankloom
