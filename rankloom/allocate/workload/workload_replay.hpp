// SPDX-License-Identifier: Apache-2.0
// allocate: what a policy would have made of a workload: jobs come, wait in a queue, run and end, in simulated time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/progress.hpp"

namespace rankloom {

/// In which order waiting jobs start. Reservations are of shapes: the very nodes and passages that a job will have, not
/// a number of nodes.
enum class Queue : std::uint8_t {
  fcfs,          ///< One after another; who does not fit keeps all behind it waiting.
  easy,          ///< The first has a reservation; others may start if they do not touch it (Lifka 1995).
  conservative,  ///< Everybody has a reservation (Mu'alem and Feitelson 2001), up to `depth` jobs.
};

std::string_view name_of(Queue queue);

struct ReplayOptions {
  Queue queue = Queue::easy;
  double load =
      0;  ///< Arrivals are pressed together or apart until this share of the machine is asked for; 0: as they came.
  std::uint64_t jobs = 0;     ///< Only so many, from the first; 0: all.
  std::uint64_t depth = 100;  ///< Conservative only: jobs that get a reservation.
  bool verify = false;        ///< Every start is also checked by the verifier, which walks all routes.
  bool keep_jobs = false;     ///< The result lists every job with its times and nodes.
  PlaceOptions place;
};

/// What became of a job.
struct ReplayedJob {
  std::uint64_t number = 0;               ///< In the workload.
  double submit = 0, start = 0, end = 0;  ///< Seconds since the first submission.
  std::vector<Node> nodes;                ///< In rising order.
  bool met = false;                       ///< It shared a passage with another at some time.
};

struct ReplayResult {
  std::string_view policy;
  std::uint64_t jobs = 0;       ///< That ran.
  std::uint64_t too_large = 0;  ///< Left out, since the machine could never hold them.
  std::uint64_t parallel = 0;   ///< Of those that ran, jobs of more than one node.
  std::uint64_t met = 0;        ///< Of these, jobs that shared a passage with another at some time.
  std::uint64_t meetings = 0;   ///< With `verify`: what the verifier found shared, over all starts.
  double makespan = 0;          ///< Seconds from the first submission to the last end.
  double utilisation = 0;       ///< Share of all node time in which a job ran on the node that it asked for.
  double mean_wait = 0;         ///< Seconds.
  double bounded_slowdown = 0;  ///< Mean of max(1, (wait + run) / max(run, 10 s)).
  double mean_diameter = 0;     ///< Hops, over parallel jobs.
  double fragmentation = 0;     ///< Share of all node time that was free while the first waiting job asked for no more.
  std::uint64_t decisions = 0;
  double decision_seconds = 0;
  std::vector<ReplayedJob> job_list;  ///< With `keep_jobs`, by their starts.

  double contention_free() const {
    return parallel == 0 ? 1 : 1 - static_cast<double>(met) / static_cast<double>(parallel);
  }
  double decisions_per_second() const {
    return decision_seconds > 0 ? static_cast<double>(decisions) / decision_seconds : 0;
  }
};

/// Share of the machine that the jobs ask for, over the time in which they are submitted.
double offered_load(std::span<const WorkloadJob> jobs, const AllocationMachine& machine);

/// Deterministic but for the times of decisions. Fails when no job fits the machine.
Result<ReplayResult> replay(const Allocator& allocator, const PolicyInfo& policy, const Workload& workload,
                            const ReplayOptions& options, Progress& progress = Progress::none());

}  // namespace rankloom
