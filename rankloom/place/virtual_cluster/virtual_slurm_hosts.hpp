// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: the parts of a virtual Slurm: its configuration files, its hosts, and commands run on them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/system/process.hpp"
#include "rankloom/place/virtual_cluster/virtual_slurm.hpp"

namespace rankloom {

inline constexpr const char* slurm_head = "head";

/// The contents of slurm.conf.
std::string slurm_conf_text(const VirtualSlurm& slurm, const VirtualSlurmOptions& options);
/// The contents of gres.conf.
std::string slurm_gres_text(const VirtualSlurm& slurm, const VirtualSlurmOptions& options);
/// The contents of /etc/hosts on every virtual host.
std::string slurm_hosts_text(const VirtualSlurm& slurm);
/// The release in the output of `slurmctld -V`: 2205 for "slurm-wlm 22.05.8"; 0: unknown.
std::uint32_t slurm_release(std::string_view version);
/// The directory of Slurm's own plugins; empty: not installed.
std::string slurm_plugin_directory();

/// Starts a host in its own namespaces. Its holder first appends itself to the file `namespace_holders`, so that an
/// interrupted start leaves no unknown process. Nodes get a private /tmp that contains the shared directories.
Result<VirtualHost> start_slurm_host(const VirtualSlurm& slurm, const std::string& name, bool is_node,
                                     const std::vector<std::string>& shared_directories);
/// How the processes of this Slurm are recognised.
HostIdentity slurm_host_identity(const VirtualSlurm& slurm);
/// A command that runs on a host, in its root directory and with SLURM_CONF set.
ProcessSpec command_on_host(const VirtualSlurm& slurm, const VirtualHost& host, std::vector<std::string> argv);

}  // namespace rankloom
