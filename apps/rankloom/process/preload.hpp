// SPDX-License-Identifier: Apache-2.0
// apps/process: puts a PMPI library of rankloom into the ranks of a program with LD_PRELOAD: which MPI the program
// uses, how it is launched, and how the library reaches its ranks and no other process.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/rankloom/process/processes.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

/// An MPI for which the libraries are built.
struct Mpi {
  std::string_view name;   ///< "openmpi", also in the names of libraries and packages.
  std::string_view title;  ///< "Open MPI"
};

const Mpi* find_mpi(std::string_view name);
/// The MPI that a launcher belongs to, from the output of `LAUNCHER --version`; nullptr if it is not known.
const Mpi* mpi_of_launcher(const std::string& launcher, std::string_view version_text);

/// The user's command after `--`, and what rankloom learns from it.
struct ProgramCommand {
  Argv argv;                            ///< As given.
  std::optional<LaunchCommand> launch;  ///< Absent: the command is the program itself, or a script.
  std::string program;                  ///< The first of `programs`.
  Argv programs;                        ///< All programs that the command starts.
  std::string version_text;             ///< The output of `LAUNCHER --version`.
};

/// Parses the command. If it is a launcher's command that rankloom cannot parse, a warning says that the library goes
/// into the environment of the whole command; `library` names the library there.
ProgramCommand inspect_command(const Argv& command, std::string_view library);

/// The MPI that a program is linked with, from its libraries; nullptr if it is not known.
const Mpi* mpi_of_program(const std::string& program);
/// The given MPI, or the one that the program is linked with, or that of its launcher, or that of mpirun.
const Mpi* mpi_of(const ProgramCommand& command, const Mpi* given);
/// Whether all programs of the command are linked with this MPI.
bool all_linked_with(const ProgramCommand& command, const Mpi& mpi);

/// The path of librankloom_KIND_MPI.so; `title` names the library in the error.
Result<std::string> find_library(std::string_view kind, const Mpi& mpi, std::string_view title);

/// Whether LD_PRELOAD can name this library: ld.so splits the variable at blanks and colons and replaces $ORIGIN, $LIB
/// and $PLATFORM.
bool fits_ld_preload(std::string_view path);

/// A library that LD_PRELOAD can name. ld.so splits the variable at blanks and colons; the path of a library that
/// contains one is replaced by a link in a temporary directory, which is removed together with the object.
class PreloadedLibrary {
 public:
  /// `directory` is one that all hosts share; the link is created there, or else in the directory for temporary files.
  static Result<PreloadedLibrary> make(const std::string& library, const std::filesystem::path& directory);
  ~PreloadedLibrary();
  PreloadedLibrary(PreloadedLibrary&& other) noexcept
      : path_(std::move(other.path_)), link_directory_(std::exchange(other.link_directory_, {})) {}
  PreloadedLibrary& operator=(PreloadedLibrary&&) = delete;
  PreloadedLibrary(const PreloadedLibrary&) = delete;
  PreloadedLibrary& operator=(const PreloadedLibrary&) = delete;

  /// LD_PRELOAD with this library before the libraries that the variable already contains.
  std::pair<std::string, std::string> variable() const;

 private:
  explicit PreloadedLibrary(std::string path, std::filesystem::path link_directory = {})
      : path_(std::move(path)), link_directory_(std::move(link_directory)) {}
  std::string path_;
  std::filesystem::path link_directory_;  ///< Empty: there is no link.
};

/// Runs the command with these variables for its ranks, and for no other process if its launcher supports that. The
/// value is the exit status.
Result<int> run_with_environment(const ProgramCommand& command, const Environment& environment,
                                 const ProgramStreams& streams);

}  // namespace rankloom::app
