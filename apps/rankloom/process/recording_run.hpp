// SPDX-License-Identifier: Apache-2.0
// apps/process: runs a program with the recorder in its ranks and reads the profile that they write. `rankloom record`,
// `rankloom online` and `rankloom tune` call these functions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "apps/rankloom/process/preload.hpp"
#include "rankloom/capture/record/reading/recorded_jobs.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/core/system/descriptor.hpp"
#include "rankloom/core/system/output_directory.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom::app {

/// A temporary directory next to an output file, in which ranks write. It is removed together with the object unless
/// its pieces are kept. A lock on it tells later runs that it is in use.
class RecordingDirectory {
 public:
  explicit RecordingDirectory(const std::filesystem::path& output);
  ~RecordingDirectory();
  RecordingDirectory(const RecordingDirectory&) = delete;
  RecordingDirectory& operator=(const RecordingDirectory&) = delete;
  bool good() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }
  /// Leaves the pieces where they are, if there are any, because this error prevents their use. The error then says how
  /// to read them.
  Error keep(Error error);
  bool is_kept() const { return kept_; }

 private:
  std::filesystem::path path_;
  Descriptor lock_;
  bool kept_ = false;
};

/// Removes a recording directory, with pieces in the directory for temporary files of this host.
void remove_recording(const std::filesystem::path& directory);

/// RANKLOOM_RECORD_OUT for a recording directory: the names of all pieces begin with it.
std::string recording_prefix(const std::filesystem::path& directory);

/// The MPI programs whose pieces are in a recording directory or in the directory for temporary files of this host.
std::vector<RecordedJob> recorded_jobs(const std::filesystem::path& directory);

/// The profile of the first MPI program that was recorded, or of the threads of a program without MPI.
Result<Profile> collect_recording(const std::filesystem::path& directory, const std::string& program, const Mpi& mpi);

struct RecordArguments {
  Argv command;          ///< How the user starts the program.
  std::string output;    ///< The profile to write; empty: PROGRAM.prof. A second MPI program gets PROGRAM-2.prof.
  double window_ns = 0;  ///< Length of a phase; 0: the whole run is one phase.
  std::string trace;     ///< The directory for a trace of every rank; empty: no trace.
  OutputDirectory::Existing existing = OutputDirectory::Existing::own;  ///< What may be replaced in that directory.
  const Mpi* mpi = nullptr;                                             ///< nullptr: detected from the program.
  ProgramStreams streams;                                               ///< Of the program.
};

/// One MPI program that the command started.
struct RecordedProfile {
  std::string output;  ///< The file.
  Profile profile;
  std::string stored = {};  ///< The copy for `rankloom run --auto`; empty: there is none.
};

/// The result after the program has run, even if a profile cannot be read or written.
struct RecordResult {
  int status = 0;                         ///< Exit status of the program.
  std::vector<RecordedProfile> profiles;  ///< In the order in which the MPI programs started.
  std::string trace;                 ///< The directory of the trace as an absolute path; empty: none was requested.
  std::optional<Error> error;        ///< Why a profile is missing.
  std::optional<Error> trace_error;  ///< Why the trace cannot be replayed.
  std::string kept;                  ///< The directory with the pieces, which are kept after an error.
};

/// Fails only before the program is started.
Result<RecordResult> record_program(const RecordArguments& arguments);

}  // namespace rankloom::app
