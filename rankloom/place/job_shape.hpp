// SPDX-License-Identifier: Apache-2.0
// place: what a launch command says about the processing units of its ranks: "srun -c 4", "mpirun --map-by slot:PE=4".
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/slots.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom {

/// What every rank of a command occupies, as far as the options say so.
struct JobShape {
  enum class Unit : std::uint8_t {
    core,
    hardware_thread,  ///< What Slurm calls a CPU. On a machine without hardware threads it is a core.
  };
  std::uint32_t width = 0;  ///< In units; 0: the command does not say.
  Unit unit = Unit::core;
  std::uint32_t threads_per_core = 0;  ///< Hardware threads of a core that a rank may use; 0: all.
  std::uint32_t gpus = 0;
  std::uint32_t ranks_per_node = 0;  ///< At most; 0: the command does not say.
  bool one_thread = false;           ///< A rank has one hardware thread: "--bind-to hwthread".
  bool oversubscribe = false;        ///< More ranks than slots are allowed: "--map-by :OVERSUBSCRIBE".
  std::string unbound_by =
      {};  ///< The option that lets ranks run on more than their cores: "--bind-to none"; empty: none.
  bool operator==(const JobShape&) const = default;
};

/// Reads the options of the launcher. Fails if the programs of a command differ in their shape.
Result<JobShape> job_shape(const LaunchCommand& command);

/// The slot of a rank on this machine. What the command does not say is as in `otherwise`.
SlotShape slot_shape(const JobShape& shape, const Topology& topology, std::uint32_t ranks, SlotShape otherwise = {});

}  // namespace rankloom
