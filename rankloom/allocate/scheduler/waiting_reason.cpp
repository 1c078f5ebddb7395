// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: why a job of a batch system waits.
#include "rankloom/allocate/scheduler/waiting_reason.hpp"

#include <algorithm>
#include <numeric>

namespace rankloom {

namespace {

/// The nodes that the job may use and that no running job has.
Bitset free_nodes(const std::vector<ScheduledJob>& running, const NodeRequest& request) {
  Bitset free = request.usable;
  for (const ScheduledJob& job : running) {
    for (const Node node : job.nodes) free.reset(index(node));
  }
  return free;
}

}  // namespace

WaitingReason why_waiting(const Allocator& allocator, const PolicyInfo& policy,
                          const std::vector<ScheduledJob>& running, const NodeRequest& request, std::size_t max_jobs) {
  WaitingReason reason;
  reason.usable_nodes = static_cast<std::uint32_t>(request.usable.count());
  reason.free_nodes = static_cast<std::uint32_t>(free_nodes(running, request).count());
  const SchedulerView view(allocator, policy, running);
  if (auto now = view.now(request)) {
    reason.allocation = std::move(now);
    return reason;
  }
  auto plan = view.later(request);
  if (!plan) {
    reason.kind = WaitingReason::Kind::does_not_fit;
    return reason;
  }
  reason.kind = reason.free_nodes < request.nodes ? WaitingReason::Kind::few_nodes : WaitingReason::Kind::not_isolated;
  reason.start = plan->start;
  reason.allocation = std::move(plan->allocation);
  std::vector<std::size_t> by_end(running.size());
  std::iota(by_end.begin(), by_end.end(), std::size_t{0});
  std::stable_sort(by_end.begin(), by_end.end(),
                   [&](std::size_t a, std::size_t b) { return running[a].end < running[b].end; });
  by_end.resize(std::min(by_end.size(), max_jobs));
  for (const std::size_t job : by_end) {
    auto others = running;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(job));
    if (SchedulerView(allocator, policy, std::move(others)).now(request)) reason.blockers.push_back(job);
  }
  return reason;
}

}  // namespace rankloom
