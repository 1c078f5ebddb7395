// SPDX-License-Identifier: Apache-2.0
// discover/slurm: the network between the nodes of a Slurm cluster, and the nodes of a Slurm allocation.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/discover/switch_tree.hpp"
#include "rankloom/model/machine/machine_spec.hpp"

namespace rankloom {

/// topology.conf, or the output of `scontrol show topology`: switches or blocks.
bool is_slurm_topology(std::string_view text);
Result<MachineSpec> read_slurm_topology(const FileContents& file);

/// topology.yaml of Slurm 25.05 and later; of several topologies the cluster default.
bool is_slurm_yaml(std::string_view text);
Result<MachineSpec> read_slurm_yaml(const FileContents& file);

/// Adds the larger blocks that BlockSizes defines above consecutive base blocks.
std::vector<SwitchEntry> aggregate_blocks(std::vector<SwitchEntry> blocks, const std::vector<std::uint32_t>& sizes);

/// The environment variables that describe a job, as text.
struct SlurmAllocation {
  std::string nodes;  ///< SLURM_JOB_NODELIST: "n[1-3],m7"
  std::string slots;  ///< SLURM_TASKS_PER_NODE or SLURM_JOB_CPUS_PER_NODE: "16(x3),8"; empty: one slot per node.
};
Result<MachineSpec> read_slurm_allocation(const SlurmAllocation& allocation);
/// "16(x3),8" for four nodes: 16 16 16 8.
Result<std::vector<std::uint32_t>> expand_counts(std::string_view text, std::size_t nodes);

}  // namespace rankloom
