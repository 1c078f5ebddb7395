// SPDX-License-Identifier: Apache-2.0
// place: what a Slurm on one machine is made of: its files, its hosts, its daemons.
#pragma once

#include <string>
#include <vector>

#include "rankloom/place/lab/slurm_lab.hpp"

namespace rankloom {

inline constexpr const char* slurm_keeper = "rankloom-slurm";
inline constexpr const char* slurm_head = "head";

/// slurm.conf, and the hosts file that every host sees.
std::string slurm_conf_text(const SlurmLab& lab, const SlurmLabOptions& options);
std::string slurm_hosts_text(const SlurmLab& lab);
/// Where Slurm's own plugins are; empty: not installed.
std::string slurm_plugin_folder();

/// A program on PATH or where system programs are; empty: there is none.
std::string program_path(const std::string& program);

/// A host in namespaces of its own. It writes itself into the lab's file of keepers before it is told of, so that no
/// process can be forgotten. Nodes get a /tmp of their own in which the shared folders are.
Result<SlurmHost> start_slurm_host(const SlurmLab& lab, const std::string& name, bool is_node,
                                   const std::vector<std::string>& shared);
std::string slurm_mark(const SlurmLab& lab);
/// Runs a command on a host; its output and errors are kept. The value is its status.
int run_on(const SlurmLab& lab, const SlurmHost& host, const std::vector<std::string>& words, std::string* said);

}  // namespace rankloom
