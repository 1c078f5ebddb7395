// SPDX-License-Identifier: Apache-2.0
// place/slurm: the nodes of a job as a machine, for mapping inside the part of the network that the job has.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/place/slurm/slurm_step.hpp"

namespace rankloom {

/// The machine for the ranks of a step: the nodes of the job in `network`, each with one core per rank. If the network
/// describes nodes with this number of cores, their caches and processing units are kept. Other nodes of a hierarchy
/// are removed. Other nodes of a routed network stay with capacity 0, because routes pass through them. If the network
/// only numbers its nodes, their number must be that of the job, and they are assigned in order. Without a network all
/// nodes have the same distance.
Result<MachineSpec> job_machine(const SlurmStep& step, const std::optional<MachineSpec>& network);

/// Whether the network describes all processing units of the job's nodes, and the ranks of the step use all of them. If
/// ranks have GPUs, they need not use all processing units, but must use all GPUs that are described.
bool fills_described_nodes(const SlurmStep& step, const MachineSpec& network);

/// Gives the nodes these names in order and expands repeated nodes. Fails if the number of nodes differs.
Result<void> name_nodes(MachineSpec& machine, std::span<const std::string> names);

}  // namespace rankloom
