// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: which running jobs of a batch system share routers or links, and what a policy would have chosen
// for them. The batch system needs no plugin: the monitor only sees the nodes of its jobs.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"

namespace rankloom {

/// The jobs of one moment. Resources are routers or links, as the machine's `exclusive` says.
struct JobSnapshot {
  struct Job {
    std::string name;
    std::uint32_t nodes = 0;
    std::uint32_t resources = 0;         ///< That its messages use.
    std::uint32_t shared_resources = 0;  ///< Those of them that another job uses too.
    std::vector<Node> chosen = {};       ///< The nodes that the policy would have chosen; empty: the job would wait.
    bool would_be_isolated = false;
  };
  std::vector<Job> jobs;  ///< In the order in which they were given.
  std::uint32_t nodes_in_use = 0;
  std::uint32_t shared_resources = 0;  ///< Routers or links that more than one job uses.

  /// The resource that most jobs use, if more than one does.
  std::uint32_t busiest = 0;
  std::vector<std::string> jobs_on_busiest;

  std::uint32_t sharing_jobs() const;
  std::uint32_t isolated_by_policy() const;
  std::uint32_t waiting_by_policy() const;
};

/// Keeps the nodes that the policy would have given to the running jobs: each job gets them when it is first seen, or
/// as soon as there are some. O(nodes + resources) per job and snapshot, plus the policy for new jobs.
class JobMonitor {
 public:
  /// The allocator and the policy must outlive the monitor.
  JobMonitor(const Allocator& allocator, const PolicyInfo& policy, const AllocationOptions& options);

  /// The jobs that run now, those that started first at the beginning.
  JobSnapshot observe(std::span<const RunningJob> running);

 private:
  const Allocator* allocator_;
  const PolicyInfo* policy_;
  AllocationOptions options_;
  Occupancy occupancy_;                         // as if the policy had chosen the nodes of all jobs
  std::map<std::string, Allocation> chosen_{};  // by job
};

}  // namespace rankloom
