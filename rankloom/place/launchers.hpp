// SPDX-License-Identifier: Apache-2.0
// place: the registry of launchers, one row per launcher with everything about it: how to recognise it and its version,
// its options, what it does by default, how to write and read its files, how to change a command, what conflicts with a
// mapping. All verbs read these rows. To add a launcher: CONTRIBUTING.md, "How to add". docs/launchers.md describes
// every launcher.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/core/software/software.hpp"
#include "rankloom/core/system/file.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/job_shape.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom {

struct EmitOptions {
  enum class Bind : std::uint8_t {
    core,  ///< Every rank to its processing units.
    none,  ///< Every rank may run anywhere on its host.
  };
  Bind bind = Bind::core;
  Argv program{"./app"};       ///< The program of the command, with its arguments.
  std::string directory;       ///< Where the files will be, for the command; empty: the working directory.
  std::string statistics;      ///< Intel MPI: also write the configuration that collects statistics into this file.
  bool oversubscribe = false;  ///< More ranks than slots are allowed.
  bool hosts_are_allocated = false;  ///< The launcher runs in a job of a resource manager that it gets its hosts from.
  std::string working_directory = {};  ///< Of the launcher; empty: unknown.
  std::string wrapper =
      "rankloom-bind";  ///< The program that binds its rank, for launchers that cannot bind each rank.

  bool binds() const { return bind == Bind::core; }
  std::string path(std::string_view file) const;
  /// Relative to the working directory if the directory is below it.
  std::string short_path(std::string_view file) const;
};

struct LauncherFile {
  std::string name;
  std::string content;
};

/// A command that `emit` prints, in its parts.
struct EmittedCommand {
  std::vector<std::string> environment;  ///< "NAME=value"
  Argv launcher;                         ///< {"mpirun"}, {"flux", "run"}, {"qsub"}
  Argv options;                          ///< Of the launcher.
  Argv program;                          ///< With its arguments, after the wrapper where one binds.

  Argv argv() const;
  /// As it is typed into a shell.
  std::string text() const;
};

/// What `emit` writes for a launcher.
struct EmittedLaunch {
  std::vector<LauncherFile> files;
  std::vector<EmittedCommand> commands;  ///< Usually one; the last one runs the program as the mapping places it.
};

/// What makes a launcher follow a mapping when it is added to the user's own command.
struct LaunchPlacement {
  std::vector<LauncherFile> files;
  Argv options;                                        ///< Of the launcher.
  Environment rank_environment = {};                   ///< For the ranks.
  std::vector<std::string> launcher_environment = {};  ///< "NAME=value", for the launcher itself.
  bool needs_wrapper = false;  ///< The launcher cannot bind every rank to its processing units: rankloom-bind does.
};

enum class OptionRole : std::uint8_t {
  other,
  rank_count,    ///< How many ranks to start.
  hosts,         ///< Which hosts to use: the mapping replaces it.
  program_file,  ///< A file lists the programs.
};

/// One option of a launcher's command line.
struct OptionSpec {
  std::string_view names;  ///< Without dashes, separated by "|"; the first one identifies the option.
  std::size_t values = 0;  ///< How many arguments follow it.
  OptionRole role = OptionRole::other;
  bool attached = false;    ///< May have a value in the same argument, as in -K1.
  bool assignment = false;  ///< One argument NAME=value may replace the two arguments NAME and value.

  std::string_view name() const { return names.substr(0, names.find('|')); }
};

/// Options of another placement: the mapping replaces them.
struct PlacementOption {
  std::string_view options;          ///< Their names, separated by blanks.
  std::string_view parameters = {};  ///< If given: only when the option's first value begins with one of these.
  bool with_gpus = false;            ///< Only if ranks are bound to their cores and GPUs.
};

/// Options that contradict the mapping and cannot be replaced.
struct ConflictingOption {
  std::string_view options;  ///< Their names, separated by blanks.
  std::string_view reason;   ///< Continues "this option …".
  std::string_view remedy;   ///< What to type instead.
};

/// What a launch depends on besides the command and the mapping.
struct LaunchContext {
  std::string directory;  ///< For the launcher's files and, below "report", the reports of the ranks.
  std::string wrapper;    ///< rankloom-bind, by a path that exists on all hosts.
  EmitOptions::Bind bind = EmitOptions::Bind::core;
  bool in_slurm_job = false;
  bool report = true;                  ///< Every rank reports where it runs.
  bool threads = false;                ///< Its threads are reported, too.
  std::string working_directory = {};  ///< In which the launcher is started; empty: unknown.
  /// Whether the user has set an environment variable; nullptr: none.
  bool (*is_set)(const char* name) = nullptr;
};

enum class DefaultRankCount : std::uint8_t {
  chosen_by_launcher,       ///< As many as the allocation has slots.
  one,                      ///< One rank per program.
  one_if_several_programs,  ///< One rank per program; for a single program the launcher chooses.
};

/// A launcher whose command line rankloom parses and rewrites, for `run`, `record`, `tune`, `online`, `reorder` and
/// `topo`.
struct LauncherSyntax {
  /// Names of its executable, separated by blanks; other launchers may use the same names. A program of any other name
  /// is not a launcher: it is never started to ask for its version, and its arguments are not changed.
  std::string_view programs;
  /// Those of the names that no other launcher uses.
  std::string_view unique_programs;
  /// Recognises the output of `PROGRAM --version`. nullptr: a unique name is enough. Otherwise the version decides, and
  /// a unique name decides only if no row recognises the version.
  bool (*recognises)(std::string_view version_text) = nullptr;
  std::string_view mpi = {};  ///< The MPI that its programs are linked with, "openmpi" or "mpich"; empty: any.
  std::optional<Software> software = {};   ///< Contains it, for `doctor`; empty: `doctor` does not look for it.
  std::string_view packaged_program = {};  ///< An executable that only this software contains.

  std::span<const OptionSpec> options;
  bool getopt_letters = false;      ///< "-lN2" is -l and -N 2.
  bool value_after_equals = true;   ///< "--name=value" is accepted.
  bool dashes_end_options = false;  ///< The program follows "--".
  /// "NAME=value" for the launcher of every run, so that runs start reliably, unless the user has set the variable.
  std::string_view launcher_variable = {};
  /// Names of options that apply to one program, separated by blanks. With a file that lists the programs, only the
  /// lines of the file can contain them.
  std::string_view program_options = {};
  std::string_view rank_count_option = "-n";  ///< Added to a command that does not give the number of ranks.
  DefaultRankCount default_rank_count = DefaultRankCount::chosen_by_launcher;

  std::span<const PlacementOption> replaced = {};
  std::span<const ConflictingOption> conflicts = {};
  /// Further reasons to refuse a command; nullptr: none.
  Result<void> (*check)(const LaunchCommand& command, const LaunchContext& context) = nullptr;
  /// What the options in front of a program say about the processing units of its ranks; nullptr: nothing.
  JobShape (*read_shape)(const LaunchedProgram& program) = nullptr;
  /// Changes the options so that the launcher reserves this many processing units per rank; nullptr: it reserves none.
  /// `place` adds what limits the hardware threads of a core.
  void (*reserve)(LaunchedProgram& program, std::uint32_t processing_units) = nullptr;
  bool shapes_apply_to_all = true;  ///< Those options in front of the first program are those of all programs.
  /// Makes additions to the user's command, which replace its options of role `hosts` and those of other placements.
  Result<LaunchPlacement> (*place)(const Deployment& deployment, const EmitOptions& options) = nullptr;
  /// Adds options with which the launcher passes these variables to the ranks.
  Result<void> (*pass_environment)(std::vector<LaunchedProgram>& programs, const Environment& environment) = nullptr;

  /// The option with this name, or for getopt the only one that begins with it; nullptr when the table does not list
  /// it.
  const OptionSpec* find_option(std::string_view name) const;
};

struct Launcher {
  std::string_view name;       ///< What the user types after --to.
  std::string_view title;      ///< "Open MPI"
  std::string_view summary;    ///< One line.
  std::string_view reference;  ///< The manual it follows.
  std::string_view checked;    ///< How its files were checked.
  /// Makes the files and a complete new command.
  Result<EmittedLaunch> (*write)(const Deployment& deployment, const EmitOptions& options);
  /// Reads the first of its files back; nullptr: the file does not contain enough for that.
  Result<MappingFile> (*read)(const FileContents& file, const Topology& topology, std::span<const std::string> hosts);
  bool names_hosts = true;  ///< Its files or its command contain host names.
  /// It numbers nodes, and ranks node by node: a mapping must give every node the same number of consecutive ranks.
  bool numbers_nodes = false;
  /// The mapper that places ranks as this launcher does without options.
  std::string_view default_placement = "block";
  std::uint32_t max_block_ranks = 0;  ///< Up to this number of ranks, it is "block".
  std::string_view default_placement_of(std::uint32_t ranks) const {
    return ranks > max_block_ranks ? default_placement : "block";
  }
  /// nullptr: rankloom writes its files but does not parse its command line.
  const LauncherSyntax* command_line = nullptr;
};

/// The rows, in reading order.
std::span<const Launcher* const> launchers();
/// The row of this name, or an error that suggests one.
Result<const Launcher*> find_launcher(std::string_view name);

/// The launcher that a program is, from its name and the output of `PROGRAM --version`; nullptr: none of these rows.
const Launcher* recognise_launcher(std::string_view program, std::string_view version_text,
                                   std::span<const Launcher* const> rows = launchers());
/// Whether some launcher has an executable of this name.
bool is_launcher_name(std::string_view program);
/// Whether a launcher of this name is recognised by its version, so that `PROGRAM --version` is worth running.
bool needs_version_text(std::string_view program);
/// "mpirun, mpiexec, srun": for hints.
std::string known_launcher_programs();

/// The first number with a dot: "mpirun (Open MPI) 4.1.4" → "4.1.4"; empty when there is none.
std::string version_number(std::string_view version_text);
/// Its first part: 4; 0 when there is none.
std::uint32_t major_version(std::string_view version_text);
/// "/usr/bin/mpirun" → "mpirun"
std::string_view program_name(std::string_view path);

}  // namespace rankloom
