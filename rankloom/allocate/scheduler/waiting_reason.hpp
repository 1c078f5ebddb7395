// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: why a job of a batch system waits, although nodes may be free.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankloom/allocate/scheduler/scheduler_view.hpp"

namespace rankloom {

struct WaitingReason {
  enum class Kind : std::uint8_t {
    can_start,     ///< There are nodes for it; the batch system makes it wait for another reason.
    few_nodes,     ///< Fewer nodes are free than it requests.
    not_isolated,  ///< Enough nodes are free, but the policy finds no set of them.
    does_not_fit,  ///< There would be no nodes even if no other job were running.
  };
  Kind kind = Kind::can_start;
  std::uint32_t usable_nodes = 0;  ///< That the job may use.
  std::uint32_t free_nodes = 0;    ///< Those of them that no running job has.
  /// The nodes that it can get now, or at the time `start` if it has to wait.
  std::optional<Allocation> allocation = {};
  double start = 0;
  /// The running jobs each of which prevents its start: without this one alone it could start now.
  std::vector<std::size_t> blockers = {};
};

/// Looks at the running jobs one by one, those that end first at the beginning, at most at `max_jobs` of them.
WaitingReason why_waiting(const Allocator& allocator, const PolicyInfo& policy,
                          const std::vector<ScheduledJob>& running, const NodeRequest& request,
                          std::size_t max_jobs = 256);

}  // namespace rankloom
