// SPDX-License-Identifier: Apache-2.0
// place/virtual_cluster: the environment variables with which MPI programs run on virtual hosts.
#pragma once

#include <cstdint>
#include <string>

#include "rankloom/place/launch_command.hpp"

namespace rankloom {

/// The major version of Open MPI's mpirun on PATH; 0: it is not installed.
std::uint32_t installed_open_mpi();

/// For MPICH and this version of Open MPI: communication over the network device of the virtual hosts and over shared
/// memory, ranks that wait without using a processor, and no binding. Root may start programs.
Environment mpi_environment(const std::string& network_device, std::uint32_t open_mpi);

/// The files of a virtual cluster that launchers need.
struct LaunchFiles {
  std::string remote_shell;  ///< Replaces ssh.
  std::string slots;         ///< The hosts for Open MPI.
  std::string machines;      ///< The hosts for MPICH.
};

/// How mpirun and mpiexec find the hosts and start processes there. More ranks than slots are allowed.
Environment remote_launch_environment(const LaunchFiles& files, std::uint32_t open_mpi);

}  // namespace rankloom
