// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: the profiles that were learned from the first runs of a user's jobs, for `srun --rankloom=learn`.
// A directory with one file per profile and an SQLite database that lists them. Files are written and removed only
// while the database is locked, so that after a crash every listed file is complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/core/result.hpp"

namespace rankloom {

class Database;

/// A step of a job. Equal jobs, programs and numbers of ranks share one profile.
struct LearnedRun {
  std::string job;      ///< The name of the job.
  std::string program;  ///< The executable, absolute and without links.
  std::uint32_t ranks = 0;
  std::uint64_t program_bytes = 0;      ///< If the size of the executable or
  std::int64_t program_written_ns = 0;  ///< its time of modification differs, it is another program.
};

struct LearnedProfile {
  LearnedRun run;
  std::string file;
  std::uint64_t bytes = 0;
  std::string since;  ///< "2026-01-31T12:00:00Z"
};

struct LearnedLimits {
  std::uint32_t max_profiles = 64;
  std::uint64_t max_bytes = std::uint64_t{256} << 20U;         ///< Of all profiles.
  std::uint64_t max_profile_bytes = std::uint64_t{64} << 20U;  ///< Of one.
};

/// The directory of a user: below the directory that the site has configured, or below the user's directory for data.
std::string learned_directory(const std::string& site_directory, const std::string& user, const std::string& data_home);
/// XDG_DATA_HOME, or else .local/share in the home directory; empty if neither is an absolute path.
std::string data_directory(const std::string& xdg_data_home, const std::string& home);

/// The file of the profile that was learned last for jobs of this name. Does not open the database, so that a process
/// of another user can call it.
std::optional<std::string> newest_learned_profile(const std::string& directory, std::string_view job);

class LearnedProfiles {
 public:
  /// Creates the directory and the database if they do not exist. Fails if the directory belongs to another user, if
  /// the database is damaged, or if it was written by a newer version.
  static Result<LearnedProfiles> open(const std::string& directory, const LearnedLimits& limits = {});

  struct Found {
    std::string file;  ///< Empty: no profile fits.
    std::string why;   ///< Then: why a profile of this job is ignored. Empty: there is none.
  };
  /// The profile of a run; it becomes the one that was used last.
  Result<Found> find(const LearnedRun& run);
  /// Stores a profile in place of the one of an equal run, and removes those that were not used for the longest time
  /// until the limits hold.
  Result<void> add(const LearnedRun& run, std::string_view profile);
  /// In order of their last use, the latest first.
  Result<std::vector<LearnedProfile>> list();
  /// Removes the profiles of a job, or all of them. The value is their number.
  Result<std::size_t> remove(const std::optional<std::string>& job);

  /// Creates a directory in which the ranks of a run write their recordings. Directories of runs whose srun was killed
  /// are removed after a week.
  Result<std::string> begin_recording(const LearnedRun& run) const;

 private:
  LearnedProfiles(std::string directory, const LearnedLimits& limits, std::shared_ptr<Database> database)
      : directory_(std::move(directory)), limits_(limits), database_(std::move(database)) {}
  Result<void> evict() const;
  Result<void> remove_unlisted_files() const;
  Result<std::vector<LearnedProfile>> rows(const std::string& condition, const std::string& value = {}) const;

  std::string directory_;
  LearnedLimits limits_;
  std::shared_ptr<Database> database_;
};

/// The run of a directory of begin_recording().
Result<LearnedRun> recorded_run(const std::string& recording_directory);
/// Removes a store that cannot be opened, with everything in it.
Result<void> remove_learned_store(const std::string& directory);

}  // namespace rankloom
