// SPDX-License-Identifier: Apache-2.0
// apps/process: runs a program with the recorder in its ranks and reads the profile that they write. `rankloom record`,
// `rankloom online` and `rankloom tune` call these functions.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "apps/rankloom/process/preload.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom::app {

/// A temporary directory next to an output file.
class RecordingDirectory {
 public:
  explicit RecordingDirectory(const std::filesystem::path& output);
  ~RecordingDirectory();
  RecordingDirectory(const RecordingDirectory&) = delete;
  RecordingDirectory& operator=(const RecordingDirectory&) = delete;
  bool good() const { return !path_.empty(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Reads the files of the ranks.
Result<Profile> collect_recording(const std::filesystem::path& directory, const std::string& program, const Mpi& mpi);

struct RecordArguments {
  Argv command;              ///< How the user starts the program.
  std::string output;        ///< The profile to write; empty: PROGRAM.prof.
  double window_ns = 0;      ///< Length of a phase; 0: the whole run is one phase.
  std::string trace;         ///< The directory for a trace of every rank; empty: no trace.
  const Mpi* mpi = nullptr;  ///< nullptr: detected from the program.
  ProgramStreams streams;    ///< Of the program.
};

/// The result after the program has run, even if its profile cannot be read or written.
struct RecordResult {
  int status = 0;                  ///< Exit status of the program.
  std::string output;              ///< The file of the profile.
  std::string trace;               ///< The directory of the trace as an absolute path; empty: none was requested.
  std::optional<Profile> profile;  ///< Absent: `error` tells why.
  std::optional<Error> error;
  std::optional<Error> trace_error;  ///< Why the trace cannot be replayed.
};

/// Fails only before the program is started.
Result<RecordResult> record_program(const RecordArguments& arguments);

/// The file in a directory of traces that lists the files of all ranks, for smpirun -replay.
inline constexpr const char* trace_list = "smpi_simgrid.txt";

}  // namespace rankloom::app
