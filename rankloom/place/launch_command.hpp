// SPDX-License-Identifier: Apache-2.0
// place: the command line with which a user starts a program, parsed: the launcher, its options, and the programs that
// it starts. Nothing is executed here; the caller runs `LAUNCHER --version` and passes its output.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

struct Launcher;
struct OptionSpec;

/// The arguments of a command line, beginning with the program.
using Argv = std::vector<std::string>;

/// Environment variables, name and value.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// One option as the user gave it.
struct LaunchOption {
  std::string name;                  ///< Its first name without dashes: -np and -c of Open MPI are both "n".
  Argv values;                       ///< Also when written as --name=value.
  Argv arguments;                    ///< As written: {"-np", "4"}, {"--ntasks=4"}.
  const OptionSpec* spec = nullptr;  ///< nullptr: the launcher's table does not list it.
  std::string flags = {};            ///< Letters of other options in its first argument: "l" in "-lw n1".

  /// Without the other options in its first argument.
  Argv own_arguments() const;
};

/// One program that the command starts. Commands separate several programs by ":".
struct LaunchedProgram {
  std::vector<LaunchOption> options;  ///< The launcher's options in front of it.
  Argv arguments;                     ///< The program and its arguments.
};

/// Removes the options for which the condition holds. Other options in the same argument stay.
template <class Condition>
void erase_options(LaunchedProgram& program, const Condition& condition) {
  std::vector<LaunchOption> kept;
  for (LaunchOption& option : program.options) {
    if (!condition(std::as_const(option))) {
      kept.push_back(std::move(option));
    } else if (!option.flags.empty()) {
      kept.push_back({.name = {}, .values = {}, .arguments = {"-" + option.flags}});
    }
  }
  program.options = std::move(kept);
}

struct LaunchCommand {
  const Launcher* launcher = nullptr;  ///< The row of the registry.
  std::string version;                 ///< "4.1.4"; empty when the version is not known.
  Argv prefix;                         ///< What precedes the launcher: "env A=b", "timeout 10", …
  std::string executable;              ///< The launcher as the user named it: "mpirun", "/opt/mpi/bin/mpiexec".
  std::vector<LaunchedProgram> programs;

  /// The whole command again.
  Argv argv() const;
  /// The option of this name. Launchers use the last one if an option is repeated, so this returns the last one.
  const LaunchOption* find(std::string_view name) const;
  /// How many ranks the command starts; nothing when it leaves that to the launcher.
  std::optional<std::uint32_t> rank_count() const;
  /// The same of one of its programs.
  std::optional<std::uint32_t> rank_count(const LaunchedProgram& program) const;
};

/// The index of the launcher in a command line: it follows programs that only prepare its start, such as "env A=b",
/// "nice" or "timeout 10".
std::size_t launcher_position(std::span<const std::string> argv);
/// The variables that "env" in front of the launcher sets, as "NAME=value".
std::vector<std::string> launcher_environment(std::span<const std::string> argv);

/// Parses a command line. `version_text` is the output of `LAUNCHER --version`; srun does not need it. `program` names
/// the argument at which the program begins, for commands with options that the launcher's table does not list. A file
/// that lists the programs (mpirun --app, mpiexec -configfile) is read, and its programs replace it. Fails when the
/// launcher is unknown, when an unknown option could have a value, or when there is no program.
Result<LaunchCommand> parse_launch_command(const Argv& argv, std::string_view version_text,
                                           std::string_view program = {});
/// The same with other rows than those of the registry.
Result<LaunchCommand> parse_launch_command(const Argv& argv, std::string_view version_text, std::string_view program,
                                           std::span<const Launcher* const> rows);

/// The launcher with its options, without the program, to start other programs on the same hosts.
Argv launcher_argv(LaunchCommand command);

/// What to change in a command.
struct LaunchChange {
  std::vector<std::string> removed_options = {};  ///< By name, in front of any program.
  Argv options = {};                              ///< New options of the launcher; they apply to all programs.
  Environment environment = {};                   ///< For the ranks, not for the launcher itself.
  Argv wrapper = {};                              ///< In front of every program.
};

/// The changed command. Fails when the launcher cannot express the change.
Result<LaunchCommand> rewrite(LaunchCommand command, const LaunchChange& change);

/// A command as it is typed into a shell, "NAME=value" assignments first.
std::string shell_text(std::span<const std::string> assignments, std::span<const std::string> argv);

}  // namespace rankloom
