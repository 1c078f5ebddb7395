// SPDX-License-Identifier: Apache-2.0
// apps: what verbs share that put the recorder into the ranks of a program: which MPI it uses, where its ranks leave
// what they count, and how that becomes a profile.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "rankloom/core/result.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom::app {

/// An MPI that a recorder was built for.
struct RecordedMpi {
  std::string_view name;
  std::string_view title;
  std::string_view version_words;  ///< In what its launchers say of themselves.
};

/// "openmpi" or "mpich"; none for other words.
const RecordedMpi* find_mpi(std::string_view name);
/// By the libraries that a program is linked with; none when it is linked with no MPI.
const RecordedMpi* mpi_of_program(const std::string& program);
/// By the program, else by what its launcher says of its version, else by the mpirun that is here.
const RecordedMpi& guess_mpi(const std::string& program, std::string_view launcher_version);

/// A folder of our own beside the output, gone in the end.
class WorkFolder {
 public:
  explicit WorkFolder(const std::filesystem::path& output);
  ~WorkFolder();
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  bool good() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What the ranks gathered themselves in folder/recording, or else the pieces of those that could not.
Result<Profile> collect_recording(const std::filesystem::path& folder, const std::string& program,
                                  const RecordedMpi& mpi);

}  // namespace rankloom::app
