// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the traffic of jobs whose users name a profile, or have one from an earlier run. Threads read the files,
// because slurmctld must not wait for a file system.
#pragma once

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <sys/types.h>

#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::slurm {

struct JobProfile {
  CommGraph graph;
  double communication;  ///< Share of the run time.
  std::uint64_t id;      ///< Equal for equal graphs.
};

/// A profile in rankloom's own format that the user may read: a regular file of this user or readable by all, of at
/// most 64 MiB.
Result<JobProfile> load_job_profile(const std::string& path, ::uid_t user);

/// Where the profile of a job is.
struct ProfileSource {
  std::string path;            ///< A file; empty: the profile that was learned last for jobs of this name.
  std::string job = {};        ///< The name of the job.
  std::string directory = {};  ///< Of the learned profiles of the user; empty: in the home directory.
  ::uid_t user = 0;

  auto operator<=>(const ProfileSource&) const = default;
  std::string text() const { return path.empty() ? "the learned profile of job " + job : path; }
};

/// Files that were read in the last seconds. Not thread-safe.
class JobProfiles {
 public:
  using Loaded = std::shared_ptr<const Result<JobProfile>>;
  /// A profile that was read some time ago is read again, and returned as it was until then. The first reading of a
  /// file is waited for, if `may_wait` is set, but for a tenth of a second at most. nullptr: the file was not read yet.
  Loaded find(const ProfileSource& source, bool may_wait);

 private:
  using Clock = std::chrono::steady_clock;
  struct Reading {
    std::mutex mutex;
    std::condition_variable done;
    Loaded loaded;
  };
  struct Entry {
    std::shared_ptr<Reading> reading;
    Clock::time_point since;
    Loaded before = nullptr;  ///< The profile of the reading before.
  };
  static bool is_loaded(const Entry& entry);
  /// Whether a thread could be started.
  bool start_reading(const ProfileSource& source);
  std::map<ProfileSource, Entry> entries_;
};

}  // namespace rankloom::slurm
