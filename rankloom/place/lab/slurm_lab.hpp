// SPDX-License-Identifier: Apache-2.0
// place: a real Slurm on one machine, to try things on: its own munged and slurmctld, and a slurmd for every node, each
// in namespaces of its own (name, shared memory, /tmp). The network is the machine's: commands of Slurm reach it from
// anywhere with SLURM_CONF set. Needs root; nothing of it is left when it is down.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

struct SlurmLabOptions {
  std::string name = "slurm";
  std::vector<std::string> nodes;  ///< Their names, node i of the machine first.
  std::uint32_t cpus = 4;          ///< That every node says it has; they share the machine's.
  std::uint32_t first_port = 0;    ///< slurmctld's; those of the nodes follow. 0: where there is room.
  std::vector<std::string> shared =
      {};                               ///< Folders below /tmp that the nodes see; the rest of their /tmp is their own.
  std::vector<std::string> lines = {};  ///< More lines for slurm.conf.
  std::string plugins = {};             ///< A folder of plugins that go before Slurm's own; empty: none.
  std::map<std::string, std::string> files = {};  ///< Files beside slurm.conf, by name: what plugins read.
};

/// A host of the lab: the head, where slurmctld is, or a node.
struct SlurmHost {
  std::string name;
  std::int32_t keeper = 0;   ///< The process that holds its namespaces open.
  std::uint64_t mounts = 0;  ///< Inode of its mount namespace: who is in it belongs to this host.
};

struct SlurmLab {
  std::string name;
  std::string folder;  ///< /run/rankloom-slurm/NAME: slurm.conf, log/, keepers, …
  std::uint32_t first_port = 0;
  std::uint32_t cpus = 0;
  SlurmHost head;
  std::vector<SlurmHost> nodes;

  std::string conf() const { return folder + "/slurm.conf"; }
};

/// What is missing to make one here; nothing missing: success.
Result<void> check_slurm_lab();

/// Makes it, and waits until all nodes are idle; on failure nothing is left.
Result<SlurmLab> slurm_lab_up(const SlurmLabOptions& options, Progress& progress);
Result<SlurmLab> find_slurm_lab(const std::string& name);
std::vector<std::string> slurm_lab_names();
/// How many nodes are in which state, as sinfo says it; nothing when slurmctld does not answer.
std::map<std::string, std::uint32_t> node_states(const SlurmLab& lab);
/// Ends every process of it and removes the rest, also of one that was only half made.
Result<void> slurm_lab_down(const std::string& name);

/// Starts slurmctld (again), and waits until it answers.
Result<void> start_slurmctld(const SlurmLab& lab);

/// Variables by which commands of Slurm and launchers find their way: SLURM_CONF, and what MPI needs on one network.
std::vector<std::pair<std::string, std::string>> slurm_lab_environment(const SlurmLab& lab);
/// Moves this process, which must have one thread, onto the head or a node, with that environment.
Result<void> enter_slurm_lab(const SlurmLab& lab, const std::string& host);

}  // namespace rankloom
