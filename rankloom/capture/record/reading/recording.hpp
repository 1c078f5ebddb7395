// SPDX-License-Identifier: Apache-2.0
// capture/record/reading: recordings as the ranks write them: one file per rank, PREFIX.JOB.RANK, which says to which
// MPI job it belongs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rankloom {

/// Whose record a file of a rank is.
struct RankPiece {
  std::string job;           ///< As JobIdentity; may be empty.
  std::uint32_t repeat = 0;  ///< Distinguishes jobs with the same identity.
  std::uint32_t ranks = 0;   ///< Size of MPI_COMM_WORLD.
  std::uint32_t rank = 0;
  std::uint64_t started_ns = 0;  ///< Time of day in nanoseconds.
  std::string host, program;
  bool finalized = false;  ///< The rank called MPI_Finalize.

  bool is_same_job(const RankPiece& other) const {
    return job == other.job && repeat == other.repeat && ranks == other.ranks;
  }
};

/// Nothing: the rank ended before MPI_Init returned, or the file is not a RankRecord of this version.
std::optional<RankPiece> describe_rank_piece(std::string_view file);

/// The used part of a rank's file, without the allocated space at its end. The used parts of the files of one job, one
/// after the other, are a recording. Empty: as describe_rank_piece().
std::string_view used_part_of_rank_file(std::string_view file);

/// Ranks that cannot write PREFIX.JOB.RANK write SPARE.JOB.RANK in the directory for temporary files of their host
/// ($TMPDIR, or else /tmp).
std::string spare_prefix(std::string_view temporary_directory, const std::string& prefix);

}  // namespace rankloom
