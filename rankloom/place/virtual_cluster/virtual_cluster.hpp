// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: a cluster on one machine, for trying launchers. Every host is a set of Linux namespaces
// (network, host name, shared memory, mounts). Bridges connect the hosts by links of limited rate: one, or one for each
// switch below a root switch. Processes and files are those of the machine. It needs root. When its processes have
// ended, only a directory in /run is left.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/place/virtual_cluster/namespaces.hpp"

namespace rankloom {

struct VirtualClusterOptions {
  std::string name = "lab";
  std::string prefix = {};  ///< Host names are the prefix and a number: lab1, lab2, …; empty: the name is the prefix.
  std::uint32_t hosts = 4;
  std::uint32_t slots = 4;       ///< Cores of each virtual host; all hosts share the cores of the machine.
  std::string rate = "400mbit";  ///< Rate of every link in the notation of tc; "none": unlimited.
  std::uint32_t switches = 1;    ///< Hosts are distributed evenly over them, in their order.
  std::string uplink = {};       ///< Rate between a switch and the root switch, if there are several; empty: as rate.
  std::string os_release = {};   ///< The text of /etc/os-release, for hints.
};

struct VirtualCluster {
  VirtualClusterOptions options;
  std::vector<VirtualHost> hosts;
  VirtualHost bridge;     ///< The network namespace that contains the switches.
  std::string directory;  ///< /run/rankloom-lab/NAME
};

/// Fails with the first missing requirement: root, iproute2, or the right to create namespaces.
Result<void> check_virtual_cluster_support(std::string_view os_release);

/// Starts a cluster. On failure nothing is left behind. `program` is the path of rankloom, which the replacement of ssh
/// runs. A temporary cluster ends together with this process.
Result<VirtualCluster> start_virtual_cluster(const VirtualClusterOptions& options, const std::string& program,
                                             bool temporary = false);
Result<VirtualCluster> find_virtual_cluster(const std::string& name);
/// The names of the running clusters.
std::vector<std::string> virtual_cluster_names();
/// Kills every process on the hosts and removes the cluster. Also removes a cluster whose start was interrupted.
Result<void> stop_virtual_cluster(const std::string& name);

/// Moves this process, which must have a single thread, onto a host and keeps its current directory. Sets the
/// environment variables that launchers need there: the replacement of ssh, the network device, and oversubscription.
Result<void> enter_virtual_host(const VirtualCluster& cluster, const std::string& host);

/// The machine description of the cluster: its hosts by name; their slots are cores that share the real processing
/// units round-robin.
MachineSpec virtual_cluster_machine(const VirtualCluster& cluster);

/// "400mbit" → 4e8 bits per second; 0 for "none". Fails for rates that tc does not accept. `option`: for the message.
Result<double> parse_rate(const std::string& rate, std::string_view option = "--rate");
/// The rate between a switch and the root switch.
const std::string& uplink_rate(const VirtualClusterOptions& options);

}  // namespace rankloom
