// SPDX-License-Identifier: Apache-2.0
// apps: a library of ours in front of the MPI of somebody's program: which MPI it is, how the program is launched, and
// how the library gets into its ranks and nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

/// An MPI that libraries are built for.
struct Mpi {
  std::string_view name;
  std::string_view title;
  std::string_view version_words;  ///< In what its launchers say of themselves.
};

const Mpi* find_mpi(std::string_view name);

/// A command behind --, looked at.
struct StartedCommand {
  Argv words;                          ///< As given.
  std::optional<LaunchCommand> launch;  ///< Nothing: it is the program itself, or a script.
  std::string program;                  ///< Of several programs the first.
  Argv programs;                       ///< All that it starts.
  std::string version;                  ///< What the launcher says of itself.
};

/// Says so when it is a launcher that is not understood: `library` then goes into the environment of all of it.
StartedCommand look_at(const Argv& command, std::string_view library);

/// As given, or what the program is linked with, or what its launcher belongs to, or what is usual here.
const Mpi* mpi_of(const StartedCommand& started, const Mpi* given);
/// All of its programs are linked with this MPI.
bool all_use(const StartedCommand& started, const Mpi& mpi);

/// librankloom_KIND_MPI.so beside this program; `title` names it in the error.
Result<std::string> find_library(std::string_view kind, const Mpi& mpi, std::string_view title);

using RankEnvironment = std::vector<std::pair<std::string, std::string>>;

/// LD_PRELOAD with this library in front of what the user has there.
std::pair<std::string, std::string> preload(const std::string& library);

/// Runs the command with variables for its ranks alone, where its launcher can do that; the value is its status.
Result<int> run_with(const StartedCommand& started, const RankEnvironment& environment, bool output_to_errors);

}  // namespace rankloom::app
