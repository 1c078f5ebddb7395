// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: the files that ranks write, one per rank ("pieces"), sorted by MPI job. A script may start
// several MPI programs, whose ranks write next to each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankloom/capture/import/import.hpp"
#include "rankloom/core/result.hpp"

namespace rankloom {

/// The pieces of one MPI job.
struct RecordedJob {
  std::string program;  ///< Of the first piece.
  std::uint32_t ranks = 0;
  std::uint64_t started_ns = 0;    ///< Of the first rank.
  std::vector<std::string> files;  ///< In the order of ranks.

  /// What the names of its files have in common, which names this job alone.
  std::string prefix() const;
};

/// The files in the directory of `prefix` whose names continue it after a dot.
std::vector<std::string> files_with_prefix(const std::string& prefix);

/// The pieces among these files, by job, in the order in which the jobs started. Other files, and pieces of ranks that
/// ended before MPI_Init returned, are left out.
std::vector<RecordedJob> group_by_job(const std::vector<std::string>& files);

/// The jobs of a directory, or of the prefix of files.
std::vector<RecordedJob> find_recorded_jobs(const std::string& path);

Result<Imported> read_recorded_job(const RecordedJob& job);

}  // namespace rankloom
