// SPDX-License-Identifier: Apache-2.0
// place/launchers: what all versions of Open MPI share. Up to 4.1, mpirun is the launcher of ORTE (open_mpi.cpp); from
// 5.0 on it is the launcher of PRRTE (prrte.cpp).
#pragma once

#include <string_view>
#include <vector>

#include "rankloom/place/launchers/launcher_files.hpp"

namespace rankloom {

/// Whether mpirun printed this version text.
bool is_open_mpi(std::string_view version_text);
/// Whether a launcher of PRRTE itself, prterun or prun, printed it.
bool is_prrte(std::string_view version_text);

/// What the options in front of a program say about its ranks: "--map-by ppr:2:package:PE=4", "--bind-to none".
JobShape read_open_mpi_shape(const LaunchedProgram& program);

/// "-x NAME=value" for every program: it applies to one.
Result<void> pass_open_mpi_environment(std::vector<LaunchedProgram>& programs, const Environment& environment);

/// With --app, mpirun silently ignores these options on its command line.
inline constexpr std::string_view options_of_one_open_mpi_program =
    "n x host hostfile wdir path preload-binary preload-files";

}  // namespace rankloom
