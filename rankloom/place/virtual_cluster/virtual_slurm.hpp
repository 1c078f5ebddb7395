// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: a complete Slurm on one machine, for trying plugins and launchers: its own munged and
// slurmctld, and one slurmd per virtual node. Each node is a set of namespaces (host name, shared memory, /tmp). All
// nodes use the network of the machine, so Slurm's commands reach it from anywhere when SLURM_CONF is set. It needs
// root, and nothing is left after it is stopped.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/virtual_cluster/namespaces.hpp"

namespace rankloom {

struct VirtualSlurmOptions {
  std::string name = "slurm";
  std::vector<std::string> nodes;        ///< Their names, in the order of the machine's nodes.
  std::uint32_t cpus = 4;                ///< Processors that each node reports; all nodes share those of the machine.
  std::vector<std::uint32_t> gpus = {};  ///< Of each node; empty: none. They are device files that nothing opens.
  std::uint32_t first_port = 0;          ///< Port of slurmctld; the ports of the nodes follow. 0: the first free range.
  std::vector<std::string> shared_directories =
      {};                                         ///< Directories below /tmp that the nodes share; the rest is private.
  std::vector<std::string> config_lines = {};     ///< Additional lines for slurm.conf.
  std::string plugin_directory = {};              ///< Searched for plugins before Slurm's own; empty: none.
  std::map<std::string, std::string> files = {};  ///< Files next to slurm.conf that plugins read, by name.
  std::string os_release = {};                    ///< The text of /etc/os-release, for hints.
};

struct VirtualSlurm {
  std::string name;
  std::string directory;  ///< /run/rankloom-slurm/NAME: contains slurm.conf, log/, namespace_holders, …
  std::uint32_t first_port = 0;
  std::uint32_t cpus = 0;
  VirtualHost head;  ///< Runs slurmctld.
  std::vector<VirtualHost> nodes;

  std::string conf() const { return directory + "/slurm.conf"; }
};

/// Fails with the first missing requirement: root, or a program or plugin of Slurm.
Result<void> check_virtual_slurm_support(std::string_view os_release);

/// Starts it and waits until all nodes are idle. On failure nothing is left behind.
Result<VirtualSlurm> start_virtual_slurm(const VirtualSlurmOptions& options, Progress& progress);
Result<VirtualSlurm> find_virtual_slurm(const std::string& name);
std::vector<std::string> virtual_slurm_names();
/// The number of nodes in each state as reported by sinfo; empty when slurmctld does not respond.
std::map<std::string, std::uint32_t> node_states(const VirtualSlurm& slurm);
/// Kills all its processes and removes its directory. Also removes one whose start was interrupted.
Result<void> stop_virtual_slurm(const std::string& name);

/// Starts slurmctld, also after it was stopped, and waits until it responds.
Result<void> start_slurmctld(const VirtualSlurm& slurm);

/// Environment variables for Slurm's commands and MPI: SLURM_CONF, and settings for hosts that share one network.
std::vector<std::pair<std::string, std::string>> virtual_slurm_environment(const VirtualSlurm& slurm);
/// Moves this process, which must have a single thread, onto the head or a node and sets that environment.
Result<void> enter_virtual_slurm_host(const VirtualSlurm& slurm, const std::string& host);

}  // namespace rankloom
