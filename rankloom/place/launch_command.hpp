// SPDX-License-Identifier: Apache-2.0
// place: the command line by which a user starts his program, understood: which launcher it is, where its options end
// and the program begins, and how to change one without harming the other. Nothing is run here; whoever calls asks the
// launcher for its version and passes on what it said.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

using Argv = std::vector<std::string>;

/// Launchers whose command lines differ. The names are those of `rankloom list launchers`.
enum class LauncherKind : std::uint8_t { openmpi4, openmpi5, mpich, intelmpi, slurm };

/// "openmpi4", "mpich", …
std::string_view name_of(LauncherKind kind);
/// "Open MPI", "MPICH", …, for people.
std::string_view title_of(LauncherKind kind);

/// One option as it was given.
struct LaunchOption {
  std::string name;            ///< Its first name without dashes: -np and -c of Open MPI are both "n".
  Argv values;                ///< As many as it takes, also when written as --name=value.
  std::size_t at = 0;          ///< Its place among the words,
  std::size_t word_count = 1;  ///< and how many of them are its own.
};

/// One program of the command: there are several when they are separated by ":".
struct LaunchPart {
  std::vector<LaunchOption> options;
  std::size_t begin = 0;    ///< Its first word: an option, or the program.
  std::size_t program = 0;  ///< The word that names the program; == end: there is none.
  std::size_t end = 0;      ///< Behind the program's last argument.
};

struct LaunchCommand {
  LauncherKind kind = LauncherKind::openmpi4;
  std::string version;       ///< "4.1.4"; empty when nobody asked.
  Argv words;               ///< The whole command, as given.
  std::size_t launcher = 0;  ///< Place of the launcher's own word: behind "env A=b", "timeout 10", …
  std::vector<LaunchPart> parts;

  /// The option in any of its parts; the last one counts, as it does for the launchers.
  const LaunchOption* find(std::string_view name) const;
  /// How many ranks are asked for; nothing when the command leaves that to the launcher.
  std::optional<std::uint32_t> rank_count() const;
};

/// Where the launcher stands: behind words that only prepare its start, such as "env A=b", "nice" or "timeout 10".
std::size_t launcher_position(std::span<const std::string> words);

/// Understands a command. `version_text` is what `LAUNCHER --version` says; srun needs none. `program` names the word
/// at which the program begins, for options that are not known here. Fails when the launcher is not known, an option is
/// not known and could take a value, or there is no program.
Result<LaunchCommand> understand_launch(Argv words, std::string_view version_text, std::string_view program = {});

/// What to change in a command.
struct LaunchChange {
  std::vector<std::string> leave_out;  ///< Options by name, wherever they stand.
  Argv options;                       ///< For the launcher: in front of its own options, so for all programs.
  std::vector<std::pair<std::string, std::string>> environment;  ///< For the ranks, not for the launcher itself.
  Argv wrapper;                                                 ///< In front of every program.
};

/// The changed command. Fails when the launcher has no way to say it.
Result<Argv> rewrite(const LaunchCommand& command, const LaunchChange& change);

}  // namespace rankloom
