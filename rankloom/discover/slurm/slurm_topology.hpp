// SPDX-License-Identifier: Apache-2.0
// discover: what Slurm knows of the network between its nodes, and of an allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/system/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/discover/switch_tree.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// topology.conf, or what `scontrol show topology` prints: switches, or blocks.
bool is_slurm_topology(std::string_view text);
Result<MachineSpec> read_slurm_topology(const FileContents& file);

/// topology.yaml of Slurm 24.11 and later; of several topologies the cluster's default one.
bool is_slurm_yaml(std::string_view text);
Result<MachineSpec> read_slurm_yaml(const FileContents& file);

/// Base blocks in the larger ones that BlockSizes asks for, each so many nodes; the entries are in order.
std::vector<SwitchEntry> aggregate_blocks(std::vector<SwitchEntry> blocks, const std::vector<std::uint32_t>& sizes);

/// What Slurm tells a job in its environment, as text.
struct SlurmAllocation {
  std::string nodes;  ///< SLURM_JOB_NODELIST: "n[1-3],m7"
  std::string slots;  ///< SLURM_TASKS_PER_NODE or SLURM_JOB_CPUS_PER_NODE: "16(x3),8"; empty: one each.
};
Result<MachineSpec> read_slurm_allocation(const SlurmAllocation& allocation);
/// "16(x3),8" for four nodes: 16 16 16 8.
Result<std::vector<std::uint32_t>> expand_counts(std::string_view text, std::size_t nodes);

}  // namespace rankloom
