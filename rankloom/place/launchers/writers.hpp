// SPDX-License-Identifier: Apache-2.0
// place: the writers and readers of the table, one file a family, and what they share.
#pragma once

#include "rankloom/place/launchers.hpp"

namespace rankloom {

using Hosts = std::span<const std::string>;

// open_mpi.cpp
Result<LaunchFiles> write_open_mpi_4(const Deployment& deployment, const EmitOptions& options);
Result<LaunchFiles> write_open_mpi_5(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_physical_rankfile(const FileContents& file, const Topology& topology, Hosts hosts);
Result<std::vector<Core>> read_logical_rankfile(const FileContents& file, const Topology& topology, Hosts hosts);
// hydra.cpp
Result<LaunchFiles> write_mpich(const Deployment& deployment, const EmitOptions& options);
Result<LaunchFiles> write_intel(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_intel(const FileContents& file, const Topology& topology, Hosts hosts);
// slurm.cpp
Result<LaunchFiles> write_slurm(const Deployment& deployment, const EmitOptions& options);
Result<LaunchFiles> write_cray(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_cray(const FileContents& file, const Topology& topology, Hosts hosts);
Result<LaunchFiles> write_flux(const Deployment& deployment, const EmitOptions& options);
// batch.cpp
Result<LaunchFiles> write_lsf(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_lsf(const FileContents& file, const Topology& topology, Hosts hosts);
Result<LaunchFiles> write_pbs(const Deployment& deployment, const EmitOptions& options);
Result<LaunchFiles> write_fujitsu(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_fujitsu(const FileContents& file, const Topology& topology, Hosts hosts);
// plain.cpp
Result<LaunchFiles> write_hostfile(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_hostfile(const FileContents& file, const Topology& topology, Hosts hosts);
Result<LaunchFiles> write_wrapper(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_wrapper(const FileContents& file, const Topology& topology, Hosts hosts);
Result<LaunchFiles> write_plain(const Deployment& deployment, const EmitOptions& options);
Result<std::vector<Core>> read_plain(const FileContents& file, const Topology& topology, Hosts hosts);

/// One host a line, line i for rank i.
LauncherFile host_of_each_rank(const Deployment& deployment);
/// "rank host cpu" lines, what rankloom-bind reads.
LauncherFile binding_table(const Deployment& deployment);
/// The program, behind the wrapper when ranks are to be bound and the launcher cannot do that.
Argv wrapped_program(const EmitOptions& options);
std::string number_of_ranks(const Deployment& deployment);

/// Consecutive ranks on one host: "2 on node1, 2 on node4, …".
struct HostRun {
  std::string host;
  std::uint32_t ranks = 0;
};
std::vector<HostRun> host_runs(const Deployment& deployment);

/// Seen with Slurm 22.05: over a tree of nodes in an arbitrary order, PMIx now and then loses what ranks tell each
/// other, and Open MPI crashes in MPI_Init (16 nodes, 32 ranks in a random order: 4 of 6 starts); round a ring it does
/// not (18 of 18 were good).
inline constexpr std::string_view ring_of_pmix = "SLURM_PMIX_FENCE=ring";

}  // namespace rankloom
