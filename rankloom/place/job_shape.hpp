// SPDX-License-Identifier: Apache-2.0
// place: what a launch command says about the processing units of its ranks: "srun -c 4", "mpirun --map-by slot:PE=4".
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/slots/slot_shapes.hpp"
#include "rankloom/model/machine/topology.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom {

/// What the ranks of a program occupy, as far as the options say so.
struct ProgramShape {
  enum class Unit : std::uint8_t {
    core,
    hardware_thread,  ///< What Slurm calls a CPU. On a machine without hardware threads it is a core.
  };
  std::uint32_t width = 0;  ///< In units; 0: the command does not say.
  Unit unit = Unit::core;
  std::uint32_t threads_per_core = 0;  ///< Hardware threads of a core that a rank may use; 0: all.
  std::uint32_t gpus = 0, ranks_per_gpu = 1;
  bool one_thread = false;  ///< A rank has one hardware thread: "--bind-to hwthread".
  bool operator==(const ProgramShape&) const = default;
};

/// What a command says about the places of its ranks.
struct JobShape : ProgramShape {
  std::uint32_t ranks_per_node = 0;  ///< At most; 0: the command does not say.
  bool oversubscribe = false;        ///< More ranks than slots are allowed: "--map-by :OVERSUBSCRIBE".
  /// The option that lets ranks run on more than their cores: "--bind-to none"; empty: none.
  std::string unbound_by = {};
  /// The ranks and the shape of each program, if there are several with numbers of ranks; then the shape of the job is
  /// that of the first one.
  std::vector<std::pair<std::uint32_t, ProgramShape>> programs = {};
  bool operator==(const JobShape&) const = default;
};

/// The largest number of hardware threads of a core.
std::uint32_t threads_of_core(const Topology& topology);

/// Reads the options of the launcher. Fails if the programs of a command differ in their shape, and one of them has no
/// number of ranks.
Result<JobShape> job_shape(const LaunchCommand& command);

/// The slots of the ranks on this machine. What the command does not say is as in `otherwise`.
SlotShapes slot_shapes(const JobShape& shape, const Topology& topology, std::uint32_t ranks,
                       const SlotShapes& otherwise = {});

}  // namespace rankloom
