// SPDX-License-Identifier: Apache-2.0
// allocate/workload: replays a workload under a policy: jobs arrive, wait in a queue, run and end in simulated time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/workload/communication_model.hpp"
#include "rankloom/allocate/workload/workload.hpp"
#include "rankloom/core/progress.hpp"

namespace rankloom {

/// The order in which waiting jobs start. A reservation is for specific nodes, routers and links, not for a number of
/// nodes.
enum class Queue : std::uint8_t {
  fcfs,  ///< First come, first served: a job that does not fit blocks all later jobs.
  easy,  ///< EASY backfilling: the first job has a reservation, others start if they do not delay it (Lifka 1995).
  conservative,  ///< Conservative backfilling: the first `depth` jobs have one (Mu'alem and Feitelson 2001).
};

std::string_view name_of(Queue queue);

/// What jobs leave free for short ones if they overtake others, as an isolated set. A job of a minute that waits an
/// hour for a job of a day is slowed 60-fold, so a few nodes that long jobs leave free are worth much.
struct Headroom {
  double share = 0.05;           ///< Of the nodes of the machine; 0: nothing.
  std::uint32_t max_nodes = 12;  ///< Short jobs are small on large machines, too.
  double short_seconds = 3600;   ///< A job whose user estimates no more leaves nothing; the longer a job, the more.

  /// For a job whose user estimates so many seconds.
  std::uint32_t nodes(std::uint32_t of_machine, double estimate) const;
};

struct ReplayOptions {
  Queue queue = Queue::easy;
  /// Scales the times between arrivals so that the offered load is this fraction of the machine; 0: no scaling.
  double load = 0;
  std::uint64_t jobs = 0;     ///< Replays only the first jobs; 0: all.
  std::uint64_t depth = 100;  ///< Conservative backfilling only: number of jobs with a reservation.
  bool verify = false;        ///< Checks every start with ConflictVerifier, which walks all routes.
  bool keep_jobs = false;     ///< Lists every job with its times and nodes in the result.
  AllocationOptions allocation = {};
  Headroom headroom = {};  ///< For policies that leave headroom.
  /// Run times depend on the nodes of a job and on the jobs with which it shares channels; nullptr: they are those of
  /// the workload. Users do not know their nodes in advance: estimates are always those of the workload.
  CommunicationModel* communication = nullptr;
  /// Jobs whose communication is known may start on fewer or more nodes than they request, up to this factor: on the
  /// number with the earliest predicted end, waiting included. 1: every job gets the nodes that it requests.
  double moldable = 1;
};

/// One job of the replay.
struct ReplayedJob {
  std::uint64_t number = 0;               ///< Its number in the workload.
  double submit = 0, start = 0, end = 0;  ///< Seconds since the first submission.
  std::vector<Node> nodes;                ///< In ascending order.
  bool had_conflict = false;              ///< It shared a router or link with another job at some time.
  std::uint32_t application = 0;          ///< As in WorkloadJob.
  double communication = 0;               ///< Seconds; 0 if they are not known.
};

struct ReplayResult {
  std::string_view policy;
  std::uint64_t jobs = 0;                ///< Jobs that ran.
  std::uint64_t too_large = 0;           ///< Jobs that the empty machine cannot run; left out.
  std::uint64_t parallel = 0;            ///< Jobs with more than one node.
  std::uint64_t jobs_with_conflict = 0;  ///< Parallel jobs that shared a router or link with another job at some time.
  std::uint64_t conflicts = 0;           ///< With `verify`: conflicts that ConflictVerifier found, over all starts.
  double makespan = 0;                   ///< Seconds from the first submission to the last end.
  double utilisation = 0;                ///< Node time of running jobs as a fraction of all node time.
  double mean_wait = 0;                  ///< Seconds.
  /// Mean of max(1, (wait + run) / max(recorded run, 10 s)). The recorded run time makes placements comparable: a job
  /// that runs longer does not wait less.
  double bounded_slowdown = 0;
  double mean_diameter = 0;  ///< Hops, over parallel jobs.
  double fragmentation =
      0;  ///< Node time that was free while the first job needed no more nodes than were free, as a fraction.
  std::uint64_t communicating = 0;  ///< Jobs with a communication pattern.
  double mean_communication = 0;    ///< Seconds in which they communicated, on average.
  double communication_ratio = 0;   ///< The same relative to the recorded run of each job, on average.
  std::uint64_t reshaped = 0;       ///< Jobs that ran on another number of nodes than they requested.
  std::uint64_t decisions = 0;
  double decision_seconds = 0;
  double slowest_decision = 0;        ///< 99 % of the decisions took at most this many seconds.
  std::vector<ReplayedJob> job_list;  ///< With `keep_jobs`: sorted by start time.

  double contention_free() const {
    return parallel == 0 ? 1 : 1 - static_cast<double>(jobs_with_conflict) / static_cast<double>(parallel);
  }
  double decisions_per_second() const {
    return decision_seconds > 0 ? static_cast<double>(decisions) / decision_seconds : 0;
  }
};

/// The node time that the jobs request, as a fraction of the node time between the first and the last submission.
double offered_load(std::span<const WorkloadJob> jobs, const AllocationMachine& machine);

/// Deterministic except for the decision times. Fails if no job fits the machine.
Result<ReplayResult> replay(const Allocator& allocator, const PolicyInfo& policy, const Workload& workload,
                            const ReplayOptions& options, Progress& progress = Progress::none());

}  // namespace rankloom
