// SPDX-License-Identifier: Apache-2.0
// apps/process: the profiles of a user's programs. `rankloom record` and `rankloom tune` add profiles, and
// `rankloom run --auto` finds the one of the program that it starts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "rankloom/core/result.hpp"
#include "rankloom/core/system/process.hpp"
#include "rankloom/model/graph/profile.hpp"
#include "rankloom/place/launch_command.hpp"

namespace rankloom::app {

/// What identifies a profile in the store.
struct StoredProgram {
  std::string path;  ///< Of the executable, absolute and without links.
  std::string scripts =
      {};  ///< Arguments that are programs or scripts: "python a.py" and "python b.py" are two programs.
  std::string arguments = {};  ///< All of them, as lines.
  std::uint32_t ranks = 0;
};

/// The first program of a command with the arguments of all programs.
StoredProgram stored_program(const LaunchCommand& command, std::uint32_t ranks);
/// A program whose arguments are not known.
StoredProgram stored_program(const std::string& program, std::uint32_t ranks);

class ProfileStore {
 public:
  /// The directory in RANKLOOM_STORE, or "rankloom/profiles" in XDG_DATA_HOME or ~/.local/share. Nothing if
  /// RANKLOOM_STORE is empty, or if neither it nor a home directory is set.
  static std::optional<ProfileStore> of_user();
  explicit ProfileStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

  /// Adds a profile, or replaces the one of the same program, arguments and number of ranks. Then the oldest ones are
  /// removed until at most 64 remain. Profiles of more than 64 MiB are not stored. The value is the file, empty if it
  /// was not stored.
  Result<std::string> add(const StoredProgram& program, const Profile& profile) const;

  /// The profile of this program and number of ranks: with the same arguments, or else the newest one.
  struct Found {
    std::string file;
    bool same_arguments = false;
  };
  std::optional<Found> find(const StoredProgram& program) const;
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

}  // namespace rankloom::app
