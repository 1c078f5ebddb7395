// SPDX-License-Identifier: Apache-2.0
// core: the environment variables in which launchers tell a process its rank. Header only and without other headers of
// this project, so that rankloom-bind and the recorder, which link nothing, include it too.
#pragma once

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>

namespace rankloom {

/// The rank in MPI_COMM_WORLD. The variables of MPI implementations come first: when mpirun runs inside a Slurm step,
/// all ranks that it starts inherit the same SLURM_PROCID.
inline constexpr std::array<const char*, 9> rank_variables{
    "OMPI_COMM_WORLD_RANK",  // Open MPI
    "PMIX_RANK",             // PMIx: Open MPI 5, srun --mpi=pmix
    "PMI_RANK",              // PMI: MPICH, Intel MPI, srun --mpi=pmi2
    "MV2_COMM_WORLD_RANK",   // MVAPICH2
    "PALS_RANKID",           // HPE Cray PALS
    "FLUX_TASK_RANK",        // Flux
    "JSM_NAMESPACE_RANK",    // IBM jsrun
    "ALPS_APP_PE",           // Cray ALPS
    "SLURM_PROCID",          // Slurm
};

/// The rank among the processes of the same host.
inline constexpr std::array<const char*, 7> local_rank_variables{"OMPI_COMM_WORLD_LOCAL_RANK",
                                                                 "MPI_LOCALRANKID",
                                                                 "MV2_COMM_WORLD_LOCAL_RANK",
                                                                 "PALS_LOCAL_RANKID",
                                                                 "PMIX_LOCAL_RANK",
                                                                 "FLUX_TASK_LOCAL_ID",
                                                                 "SLURM_LOCALID"};

/// The number of ranks on the same host.
inline constexpr std::array<const char*, 4> local_size_variables{"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS",
                                                                 "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE"};

/// The value of the first of these variables that contains a decimal number.
inline std::optional<std::uint64_t> first_number_in_environment(std::span<const char* const> variables) {
  for (const char* const variable : variables) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || *value < '0' || *value > '9') continue;
    char* end = nullptr;
    const unsigned long long number = std::strtoull(value, &end, 10);
    if (*end == '\0') return number;
  }
  return std::nullopt;
}

/// The rank of this process, if a launcher started it.
inline std::optional<std::uint64_t> rank_from_environment() {
  return first_number_in_environment(rank_variables);
}

/// The rank of this process on its host, if a launcher started it.
inline std::optional<std::uint64_t> local_rank_from_environment() {
  return first_number_in_environment(local_rank_variables);
}

/// The number of ranks on this host, if the launcher says it.
inline std::optional<std::uint64_t> local_size_from_environment() {
  return first_number_in_environment(local_size_variables);
}

}  // namespace rankloom
