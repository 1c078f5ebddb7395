// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: nodes for a job in the queue of a batch system. The batch system describes one moment: the
// running jobs with their nodes and end times, and the nodes that the waiting job may use. The view returns the nodes
// that the job should get, now or later. It has no state of its own, so that a restarted scheduler gets the same
// results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankloom/allocate/policy.hpp"

namespace rankloom {

/// A running job.
struct ScheduledJob {
  std::vector<Node> nodes;  ///< In ascending order.
  double end = 0;           ///< Its latest end time, in seconds of any clock.
};

/// A running job whose allocation was computed before.
struct RunningAllocation {
  Allocation allocation;  ///< `isolated` does not matter.
  double end = 0;
};

/// What a waiting job requests.
struct NodeRequest {
  std::uint32_t nodes = 1;
  Bitset usable;                    ///< By node; the job may use no other nodes.
  std::vector<Node> required = {};  ///< Nodes that the allocation must contain.
  AllocationOptions allocation = {};
};

struct Plan {
  double start = 0;
  Allocation allocation = {};
};

/// The machine at one moment. Construction computes one route footprint per running job, unless they are given. A
/// request costs a copy of the occupancy and one search; if the job cannot start now, O(log running) further searches.
class SchedulerView {
 public:
  /// The allocator and the policy must outlive the view. Running jobs may share nodes.
  SchedulerView(const Allocator& allocator, const PolicyInfo& policy, std::vector<ScheduledJob> running);
  SchedulerView(const Allocator& allocator, const PolicyInfo& policy, std::vector<RunningAllocation> running);

  /// Marks the planned allocation of a waiting job of higher priority as used.
  void reserve(const Allocation& planned) { occupancy_.add(planned); }

  /// Nodes for the job while all running jobs continue.
  std::optional<Allocation> now(const NodeRequest& request) const;
  /// The first moment at which enough running jobs have ended for the policy to find nodes, and these nodes. Nothing if
  /// the job does not even fit on the empty machine.
  std::optional<Plan> later(const NodeRequest& request) const;
  /// Nodes for the job if some of these running jobs are preempted: the fewest of the first ones that suffice. The
  /// batch system preempts the jobs that have one of these nodes, so the result shares nothing with the other ones.
  /// A job is named by its nodes.
  std::optional<Allocation> after_preemption(const NodeRequest& request,
                                             std::span<const std::vector<Node>> candidates) const;
  /// Nodes for the job if no other job were running.
  std::optional<Allocation> on_empty_machine(const NodeRequest& request) const;

 private:
  std::optional<Allocation> find(Occupancy occupancy, const NodeRequest& request) const;
  /// Whether the allocation remains valid if those jobs of the list that have none of its nodes continue.
  bool is_valid_next_to(const Allocation& allocation, const std::vector<const Allocation*>& jobs,
                        const NodeRequest& request) const;

  const Allocator* allocator_;
  const PolicyInfo* policy_;
  std::vector<double> ends_;             // ascending
  std::vector<Allocation> allocations_;  // in the same order
  Occupancy occupancy_;
};

/// Nodes for a job that requires some given nodes. Without required nodes this is the policy's choice. Otherwise the
/// policy searches in growing neighbourhoods of the required nodes, and the smallest set that contains them is used. If
/// there is none, the closest nodes are used, provided that they are isolated or the fallback allows conflicts.
std::optional<Allocation> allocate_around(const Allocator& allocator, const Occupancy& occupancy,
                                          const PolicyInfo& policy, std::uint32_t nodes, std::span<const Node> required,
                                          const AllocationOptions& options);

/// The fallback that a user requests in a job comment, such as Slurm's --comment: "rankloom:fallback=diameter". Other
/// text is ignored; if there are several requests, the last one counts.
std::optional<Fallback> fallback_from_comment(std::string_view text);

/// The profile that a user names in a job comment: "rankloom:profile=app.prof"; empty: none. The name ends at a space,
/// a comma or a semicolon.
std::string profile_from_comment(std::string_view text);

/// The file of a request such as "app.prof", "strict:app.prof" or "map:app.prof,budget=2s"; empty for "off" and
/// "learn".
std::string file_of_step_request(std::string_view text);
/// Whether a request is for the profile of an earlier run: "learn" or "learn,bind=none".
bool is_learn_request(std::string_view text);

}  // namespace rankloom
