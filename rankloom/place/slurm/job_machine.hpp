// SPDX-License-Identifier: Apache-2.0
// place: the nodes of a job as a machine: the part of the network that it was given, for mapping inside it.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine_spec.hpp"
#include "rankloom/place/slurm/step.hpp"

namespace rankloom {

/// The machine on which the step's ranks may sit: `network` with the job's nodes alone, each with as many cores as it
/// shall hold ranks. Where that is what the network says is inside, its caches and processing units are kept. Other
/// nodes of a hierarchy are left out; those of a routed network stay and are closed, because routes pass them. A
/// network that only numbers its nodes must have as many as the job, and they stand for them in order. Without a
/// network all nodes are equally far apart.
Result<MachineSpec> machine_of_job(const SlurmStep& step, const std::optional<MachineSpec>& network);

/// Gives the nodes these names, in order; equal ones are written out one by one. Fails when the numbers differ.
Result<void> name_nodes(MachineSpec& machine, std::span<const std::string> names);

}  // namespace rankloom
