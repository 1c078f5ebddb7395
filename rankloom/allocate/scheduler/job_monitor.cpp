// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: compares the nodes of running jobs with those that a policy would have chosen.
#include "rankloom/allocate/scheduler/job_monitor.hpp"

#include <algorithm>
#include <unordered_set>

namespace rankloom {

std::uint32_t JobSnapshot::sharing_jobs() const {
  return static_cast<std::uint32_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.shared_resources > 0; }));
}

std::uint32_t JobSnapshot::isolated_by_policy() const {
  return static_cast<std::uint32_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.would_be_isolated; }));
}

std::uint32_t JobSnapshot::waiting_by_policy() const {
  return static_cast<std::uint32_t>(
      std::count_if(jobs.begin(), jobs.end(), [](const Job& job) { return job.chosen.empty(); }));
}

JobMonitor::JobMonitor(const Allocator& allocator, const PolicyInfo& policy, const AllocationOptions& options)
    : allocator_(&allocator), policy_(&policy), options_(options), occupancy_(allocator.machine()) {}

JobSnapshot JobMonitor::observe(std::span<const RunningJob> running) {
  std::unordered_set<std::string> names;
  for (const RunningJob& job : running) names.insert(job.name);
  for (auto job = chosen_.begin(); job != chosen_.end();) {
    if (names.contains(job->first)) {
      ++job;
      continue;
    }
    occupancy_.remove(job->second);
    job = chosen_.erase(job);
  }

  JobSnapshot snapshot;
  const RouteFootprint& route_footprint = allocator_->machine().route_footprint();
  std::vector<std::uint32_t> users(route_footprint.resource_count());
  std::vector<Bitset> footprints;
  Bitset used_nodes(allocator_->machine().node_count());
  for (const RunningJob& job : running) {
    Bitset& footprint = footprints.emplace_back(users.size());
    route_footprint.add_resources(job.nodes, footprint);
    footprint.for_each([&](std::uint32_t resource) { ++users[resource]; });
    for (const Node node : job.nodes) used_nodes.set(index(node));
  }
  snapshot.nodes_in_use = static_cast<std::uint32_t>(used_nodes.count());
  for (std::uint32_t resource = 0; resource < users.size(); ++resource) {
    if (users[resource] < 2) continue;
    ++snapshot.shared_resources;
    if (users[resource] > users[snapshot.busiest]) snapshot.busiest = resource;
  }

  for (std::size_t at = 0; at < running.size(); ++at) {
    const RunningJob& job = running[at];
    JobSnapshot::Job& seen = snapshot.jobs.emplace_back();
    seen.name = job.name;
    seen.nodes = static_cast<std::uint32_t>(job.nodes.size());
    footprints[at].for_each([&](std::uint32_t resource) {
      ++seen.resources;
      if (users[resource] > 1) ++seen.shared_resources;
    });
    if (snapshot.shared_resources > 0 && footprints[at].test(snapshot.busiest))
      snapshot.jobs_on_busiest.push_back(job.name);
    auto chosen = chosen_.find(job.name);
    if (chosen == chosen_.end()) {
      auto allocation = allocate_nodes(*allocator_, occupancy_, *policy_, seen.nodes, options_);
      if (!allocation) continue;
      occupancy_.add(*allocation);
      chosen = chosen_.emplace(job.name, std::move(*allocation)).first;
    }
    seen.chosen = chosen->second.nodes;
    seen.would_be_isolated = chosen->second.isolated;
  }
  return snapshot;
}

}  // namespace rankloom
