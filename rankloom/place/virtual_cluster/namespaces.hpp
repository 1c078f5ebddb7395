// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: Linux namespaces as hosts. Each namespace is kept open by a sleeping process, its namespace
// holder. The virtual cluster and the virtual Slurm both consist of such hosts.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct VirtualHost {
  std::string name;
  std::int32_t holder = 0;  ///< The process that keeps the namespaces of the host open.
  /// Inode of the namespace that identifies the host; processes in that namespace belong to the host. It is the network
  /// namespace in a virtual cluster and the mount namespace in a virtual Slurm.
  std::uint64_t inode = 0;
};

/// An error that names the system call error in `errno`.
Failure system_failure(const std::string& what, std::string hint = "run rankloom doctor to see what is missing");

/// The path of an executable on PATH or in the system directories, which the PATH of a user may lack; or an empty
/// string.
std::string find_system_program(const std::string& program);

/// Moves this process into a namespace of another process. `kind` is "net", "mnt", "uts" or "ipc".
bool join_namespace(std::int32_t process, const char* kind);
/// The inode of a namespace of a process, or 0 when the process does not exist.
std::uint64_t namespace_inode(std::int32_t process, const char* kind);

/// Starts a process with this title that runs `setup` and then sleeps. `setup` creates the namespaces and mounts. A
/// temporary holder ends together with this process.
Result<std::int32_t> start_namespace_holder(const std::string& host, const char* title, bool temporary,
                                            const std::function<bool()>& setup);

/// How the hosts of one cluster are recognised.
struct HostIdentity {
  const char* kind;         ///< The namespace that VirtualHost::inode refers to.
  const char* title;        ///< The process title of the holders.
  std::string environment;  ///< "NAME=value" in the environment of every process on the hosts.
};
/// Kills all processes on the hosts, and then the holders. If the holder of a host no longer exists, only processes
/// with the identifying environment variable are killed.
void kill_hosts(std::span<const VirtualHost> hosts, const HostIdentity& identity);

/// Joins the namespaces of a host and keeps the current directory. Fails when the host no longer exists.
Result<void> enter_host(const VirtualHost& host, const char* identifying_kind, std::span<const char* const> kinds,
                        std::string restart_command);

/// Accepts lower-case letters, digits and '-'.
Result<void> check_cluster_name(const std::string& name);
/// The names of the entries of a directory, sorted. Every running cluster has a directory of its name.
std::vector<std::string> directory_entries(const std::string& directory);

}  // namespace rankloom
