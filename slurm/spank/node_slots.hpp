// SPDX-License-Identifier: GPL-2.0-or-later
// slurm/spank: what the ranks of one node get: the slots of the mapping as far as the step has them, otherwise Slurm's
// choice.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "slurm/spank/placement.hpp"

namespace rankloom::spank {

/// The GPUs that a step has on a node, from the variables that Slurm sets for all its ranks. If a cgroup confines the
/// step to its GPUs, programs count only these.
struct StepGpus {
  std::vector<std::uint32_t> numbers;  ///< On the node: SLURM_STEP_GPUS.
  /// The variables of vendors, each with the names of these GPUs in the same order: numbers or UUIDs.
  std::vector<std::pair<std::string, std::vector<std::string>>> variables;
};

/// Reads an environment of "NAME=value" strings. Empty if it does not say which GPUs the step has.
StepGpus read_step_gpus(char* const* environment);

/// What a step has on a node.
struct StepResources {
  std::vector<std::uint32_t> allowed;  ///< The processing units that its ranks may run on.
  std::vector<std::uint32_t> cores;    ///< Its cores in Slurm's numbering.
  std::uint32_t cpus_per_task = 1;
  StepGpus gpus;
  std::uint32_t gpus_per_task = 0;  ///< Above 0: Slurm leaves it to the plugin to bind ranks to GPUs.
};

struct NodeSlots {
  struct Task {
    std::vector<std::uint32_t> units;  ///< OS indices; empty: Slurm's binding stays.
    /// The numbers on the node of the GPUs that the rank sees, in this order; empty: Slurm's variables stay.
    std::vector<std::uint32_t> gpus;
  };
  enum class Gpus : std::uint8_t {
    none,          ///< The mapping is without GPUs.
    mapped,        ///< Ranks have the GPUs of the mapping.
    kept,          ///< Ranks have the GPUs that Slurm would give them, and processing units near them.
    left_to_slurm  ///< Ranks have the GPUs that Slurm would give them, and Slurm's binding.
  };
  std::vector<Task> tasks;  ///< By the number of the rank on the node.
  Gpus gpus = Gpus::none;
};

/// Each rank sees its own GPUs only, if Slurm would bind it to them. Otherwise all ranks see all GPUs of the step, in
/// an order in which the k-th rank of the node finds its GPUs at the k-th place. If the step lacks a GPU or a
/// processing unit of the mapping on the node, all its ranks there have the GPUs that Slurm would give them, in the
/// order of ranks.
NodeSlots assign_slots(const std::vector<SlotChoice>& choices, const StepResources& step);

/// The variables with which a program sees these GPUs; no value: the variable must not be set. ROCm applies the
/// variables of CUDA and OpenCL to the devices that its own variable has left.
std::vector<std::pair<std::string, std::optional<std::string>>> gpu_variables(const StepGpus& step,
                                                                              const std::vector<std::uint32_t>& gpus,
                                                                              bool rocm);

}  // namespace rankloom::spank
