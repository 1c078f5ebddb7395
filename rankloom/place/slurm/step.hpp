// SPDX-License-Identifier: Apache-2.0
// place: the ranks of one srun on the nodes of its job. What the SPANK plugin does is decided here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/place/launch_command.hpp"
#include "rankloom/place/slurm/network.hpp"
#include "rankloom/place/slurm/request.hpp"

namespace rankloom {

/// What Slurm says in the environment of srun, as text; empty where it says nothing.
struct SlurmVariables {
  std::string nodes = {};           ///< SLURM_JOB_NODELIST; empty: srun stands outside of a job.
  std::string cpus_per_node = {};   ///< SLURM_JOB_CPUS_PER_NODE: "16(x3),8"
  std::string tasks_per_node = {};  ///< SLURM_TASKS_PER_NODE
  std::string tasks = {};           ///< SLURM_NTASKS
  std::string cpus_per_task = {};   ///< SLURM_CPUS_PER_TASK
  std::string jobs_together = {};   ///< SLURM_HET_SIZE: the job has several parts.
};

struct JobNode {
  std::string name;
  std::uint32_t cpus = 1;   ///< That the job has there.
  std::uint32_t tasks = 1;  ///< That Slurm would start there, or what fits when the step has another number of ranks.
};

/// One srun: what it was told, and the job that it stands in.
struct SlurmStep {
  std::vector<JobNode> nodes;          ///< In Slurm's order; empty: no job yet.
  std::optional<std::uint32_t> ranks;  ///< None: as many as the mapping has.
  bool counts_itself = false;          ///< The number stands in the command, not in the job.
  std::uint32_t cpus_per_task = 1;
  std::optional<std::uint32_t> node_count;  ///< srun -N
  bool binds = true;        ///< False when the user tells srun how to bind, or a rank has several processing units.
  bool overcommit = false;  ///< More ranks than processing units on a node are meant.
};

/// The command has options that order ranks, as those by which mpirun starts its daemons.
bool orders_itself(const LaunchCommand& command);

/// Fails when the command asks for an order of its own, which Slurm would prefer, or has several programs.
Result<SlurmStep> understand_step(const LaunchCommand& command, const SlurmVariables& variables);

/// Where one rank goes.
struct StepSeat {
  enum class By : std::uint8_t {
    nobody,   ///< Anywhere on the node, or as Slurm binds it.
    number,   ///< The processing unit that the operating system calls so: the machine's description says it.
    position  ///< The so-manieth of those that the job has on the node: the description only counts.
  };
  std::string host;
  By by = By::nobody;
  std::uint32_t cpu = 0;
};

struct StepPlacement {
  std::vector<StepSeat> seats;               ///< By rank.
  std::optional<double> cost, cost_default;  ///< Of a mapping made here: with it, and in Slurm's own order.
};

/// The places of a mapping or, when the request asks for it, of a mapping made now, on the nodes that the job has of
/// the network. Fails when the mapping does not fit the step or its job.
Result<StepPlacement> place_step(const StepRequest& request, const SlurmStep& step, const SlurmNetwork& network);

/// "ranks 16", then a line "rank host cpu" for each: "7" is a number, "+7" a position, "-" nothing.
std::string write_placement(const StepPlacement& placement);

}  // namespace rankloom
