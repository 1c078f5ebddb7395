// SPDX-License-Identifier: Apache-2.0
// place/slurm: the placement of the ranks of one srun step on the nodes of its job. The SPANK plugin applies it.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/cost/cost_model.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/slurm/slurm_network.hpp"
#include "rankloom/place/slurm/step_request.hpp"

namespace rankloom {

inline constexpr std::uint32_t max_gpus_per_node = 1024;

/// The options about GPUs that a job passes to its srun commands, and their environment variables.
inline constexpr auto gpu_option_variables =
    std::to_array<std::pair<const char*, const char*>>({{"gpus-per-task", "SLURM_GPUS_PER_TASK"},
                                                        {"tres-per-task", "SLURM_TRES_PER_TASK"},  // from 23.11 on
                                                        {"ntasks-per-gpu", "SLURM_NTASKS_PER_GPU"},
                                                        {"gpus-per-node", "SLURM_GPUS_PER_NODE"},
                                                        {"gpus-per-socket", "SLURM_GPUS_PER_SOCKET"},
                                                        {"gpus", "SLURM_GPUS"},
                                                        {"gres", "SLURM_GRES"},
                                                        {"cpus-per-gpu", "SLURM_CPUS_PER_GPU"},
                                                        {"gpu-bind", "SLURM_GPU_BIND"}});

/// The environment variables of Slurm that describe the job of an srun; empty: not set.
struct SlurmVariables {
  std::string nodes = {};                               ///< SLURM_JOB_NODELIST; empty: srun runs outside of a job.
  std::string cpus_per_node = {};                       ///< SLURM_JOB_CPUS_PER_NODE: "16(x3),8"
  std::string tasks_per_node = {};                      ///< SLURM_TASKS_PER_NODE
  std::string tasks = {};                               ///< SLURM_NTASKS
  std::string cpus_per_task = {};                       ///< SLURM_CPUS_PER_TASK
  std::string het_size = {};                            ///< SLURM_HET_SIZE; not empty: a heterogeneous job.
  std::map<std::string, std::string> gpu_options = {};  ///< Those of `gpu_option_variables` that are set.
};

struct JobNode {
  std::string name;
  std::uint32_t cpus = 1;  ///< Processing units of the job on the node.
  /// The ranks that Slurm would start on the node; if the step has another number of ranks than the job, the ranks that
  /// fit.
  std::uint32_t tasks = 1;
};

/// One srun step: its options and the nodes of its job.
struct SlurmStep {
  std::vector<JobNode> nodes;  ///< In the order of the job's node list; empty: outside of a job.
  /// The nodes in the order in which Slurm fills them with ranks by default, as it was asked for; empty: the order of
  /// `nodes`. From 26.05 on the order depends on Slurm's topology plugin.
  std::vector<std::string> rank_order = {};
  std::optional<std::uint32_t> ranks;  ///< None: the number of ranks of the mapping.
  bool sets_task_count = false;        ///< The command contains the number of ranks.
  std::uint32_t cpus_per_task = 1;
  std::optional<std::uint32_t> node_count;  ///< srun -N
  bool may_bind = true;             ///< False if the user sets --cpu-bind, or if Slurm must choose the GPUs of ranks.
  std::uint32_t gpus_per_task = 0;  ///< 0: none, or Slurm must choose them.
  /// Slurm would bind each rank to GPUs of its own (--gpus-per-task). Otherwise all ranks of a node see all its GPUs.
  bool binds_gpus = false;
  bool overcommit = false;  ///< More ranks than processing units on a node are allowed.
};

/// Whether the command has options that determine the placement of ranks, such as those with which mpirun starts its
/// daemons.
bool has_placement_options(const LaunchCommand& command);

/// Fails if the command has options that determine the placement, which Slurm would prefer, or several programs.
Result<SlurmStep> parse_step(const LaunchCommand& command, const SlurmVariables& variables);

/// The host, the processing units and the GPUs of one rank.
struct StepBinding {
  enum class Unit : std::uint8_t {
    none,      ///< The rank is not bound by the plugin.
    os_index,  ///< `cpus` are numbers of the operating system, from the description of the machine.
    position   ///< `cpus` are indices into the processing units of the job on the node.
  };
  std::string host;
  Unit unit = Unit::none;
  std::vector<std::uint32_t> cpus = {};
  std::vector<std::uint32_t> gpus = {};  ///< Their numbers on the node; empty: Slurm chooses them.
};

/// The cost of a mapping that was computed here, and of Slurm's default placement.
struct StepCosts {
  CostModel model;
  double mapped, by_default;
};

struct StepPlacement {
  std::vector<StepBinding> bindings;  ///< By rank.
  std::optional<StepCosts> costs = {};
  std::uint32_t gpus_per_task = 0;  ///< Above 0: ranks must be bound to this many GPUs, as Slurm would do it.
};

/// Reads the mapping, or computes one on the nodes of the job if the request is for a profile. Fails if the mapping
/// does not fit the step or its job.
Result<StepPlacement> place_step(const StepRequest& request, const SlurmStep& step, const SlurmNetwork& network);

/// "ranks 16", or "ranks 16 gpus-per-task 1" if ranks must be bound to GPUs, then one line "rank host cpus" or "rank
/// host cpus gpus=4,5" per rank. The cpus are "0-3,8" for OS indices, "+0-3,8" for positions, "-" for none.
std::string write_placement(const StepPlacement& placement);

}  // namespace rankloom
