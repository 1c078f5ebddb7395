// SPDX-License-Identifier: Apache-2.0
// apps/process: runs other programs, and finds the programs and libraries that belong to rankloom.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/software/software.hpp"
#include "rankloom/core/system/process.hpp"

namespace rankloom::app {

/// A program and its arguments.
using Argv = std::vector<std::string>;

/// Runs a program without a shell and calls `on_line` with every line of its standard output. Standard input is empty,
/// standard error goes to `errors`. The value is the exit status as a shell reports it (128 + signal number).
Result<int> run_lines(const Argv& argv, const std::function<void(std::string_view)>& on_line,
                      const Redirection& errors = Redirection::inherit());

/// Where the standard streams of a program are connected to.
struct ProgramStreams {
  Redirection input = Redirection::inherit();
  Redirection output = Redirection::inherit();
  Redirection errors = Redirection::inherit();

  /// Ours; with --json, standard output goes to our standard error, because ours contains one JSON object only.
  static ProgramStreams ours(bool json);
  /// The output goes to a file, the input is empty.
  static ProgramStreams to_log(const std::string& path);
};

/// Runs a program and waits for it. The value is the exit status as a shell reports it, also when the program cannot be
/// started (127 or 126). Signals that end this program are forwarded. `environment` has "NAME=value".
int run_program(const Argv& argv, const std::vector<std::string>& environment, const ProgramStreams& streams);

/// What `LAUNCHER --version` prints; empty for any other program, which must not be started for this.
std::string launcher_version(const Argv& command);

/// The arguments as one line that a shell reads back: "mpirun -n 4".
std::string command_text(const Argv& argv);

/// The path of this executable.
std::string program_path();
std::string host_name();

/// A program or library of rankloom, relative to this executable in the build tree or where it is installed.
std::optional<std::string> find_installed(const std::string& file);

/// The text of /etc/os-release, or of the file that the variable RANKLOOM_OS_RELEASE names; empty if it cannot be read.
std::string os_release();
/// How to install software on this system.
std::string how_to_install(Software software);
/// How to get a component of rankloom that is missing: its package if this program was installed from Debian packages,
/// else what the build needs.
std::string how_to_install(std::string_view package, Software build_dependency);
/// The same for a component that is built for each MPI, with the package of one MPI, "openmpi", "mpich" or "abi".
std::string how_to_install_for_mpi(std::string_view mpi);
/// The same for any MPI.
std::string how_to_install_for_mpi();

}  // namespace rankloom::app
