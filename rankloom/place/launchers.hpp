// SPDX-License-Identifier: Apache-2.0
// place: a mapping in the words of each launcher, and the table of launchers. Adding one: a writer in a file of
// launchers/ and a row in launchers.cpp; help, completion and tests follow. docs/launchers.md shows each.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/file.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/place/deployment.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom {

struct EmitOptions {
  enum class Bind : std::uint8_t {
    core,  ///< Every rank on its processing unit.
    none,  ///< Every rank on its host, anywhere there.
  };
  Bind bind = Bind::core;
  Argv program{"./app"};  ///< What the command runs, with its arguments.
  std::string folder;      ///< Where the files will be, for the command; empty: here.
  std::string statistics;  ///< Intel MPI: also the configuration that collects statistics into this file.
  std::string wrapper = "rankloom-bind";  ///< The program that binds by rank, for launchers that cannot.

  std::string path(std::string_view file) const;
};

struct LauncherFile {
  std::string name;
  std::string content;
};

/// A command to type: variables first, then the words.
struct LauncherCommand {
  std::vector<std::string> environment;  ///< "NAME=value"
  Argv words;
  /// As it is typed into a shell.
  std::string text() const;
};

struct LaunchFiles {
  std::vector<LauncherFile> files;
  std::vector<LauncherCommand> commands;  ///< Usually one; the last one runs the program where the mapping says.
};

struct LauncherInfo {
  std::string_view name;       ///< What the user types after --to.
  std::string_view summary;    ///< One line.
  std::string_view reference;  ///< The manual it follows.
  std::string_view checked;    ///< How we know that it works.
  Result<LaunchFiles> (*write)(const Deployment& deployment, const EmitOptions& options);
  /// Reads the first of its files back; nullptr: it does not say enough for that.
  Result<std::vector<Core>> (*read)(const FileContents& file, const Topology& topology, std::span<const std::string> hosts);
};

/// The table, in reading order.
std::span<const LauncherInfo> launchers();
/// The row, or an error that suggests one.
Result<const LauncherInfo*> find_launcher(std::string_view name);

}  // namespace rankloom
