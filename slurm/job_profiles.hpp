// SPDX-License-Identifier: GPL-2.0-or-later
// slurm: the traffic of jobs whose users name a profile. Threads read the files, because slurmctld must not wait for a
// file system.
#pragma once

#include <chrono>
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

/// Files that were read in the last seconds. Not thread-safe.
class JobProfiles {
 public:
  using Loaded = std::shared_ptr<const Result<JobProfile>>;
  /// Waits at most a tenth of a second; nullptr: the file was not read by then.
  Loaded find(const std::string& path, ::uid_t user);

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
  };
  std::map<std::pair<std::string, ::uid_t>, Entry> entries_;
};

}  // namespace rankloom::slurm
