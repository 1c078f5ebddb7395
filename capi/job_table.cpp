// SPDX-License-Identifier: Apache-2.0
// capi: the running jobs and their nodes, in memory.
#include <fmt/format.h>

#include "capi/bridge.hpp"

namespace rankloom::bridge {

namespace {

Result<Exclusive> parse_exclusive(const Topology& topology, std::string_view name) {
  if (name.empty()) return default_exclusive(topology);
  for (const Exclusive candidate : {Exclusive::routers, Exclusive::links}) {
    if (name_of(candidate) == name) return candidate;
  }
  return fail(Code::usage, at("exclusive"), fmt::format("'{}' is not a known resource", name), "use routers or links");
}

Result<Fallback> parse_fallback(std::string_view name) {
  if (name.empty()) return Fallback::wait;
  for (const Fallback candidate : {Fallback::wait, Fallback::diameter, Fallback::isolated}) {
    if (name_of(candidate) == name) return candidate;
  }
  return fail(Code::usage, at("fallback"), fmt::format("'{}' is not a known fallback", name),
              "use wait, diameter or closed");
}

}  // namespace

Result<JobTable> JobTable::of(const Topology& topology, std::string_view policy, std::string_view exclusive) {
  if (topology.is_matrix())
    return fail(Code::bad_input, at("topology"), "a distance matrix has no routes", "use a machine with a network");
  auto policy_row = find_policy(policy.empty() ? "closed-best" : policy);
  if (!policy_row) return propagate(policy_row);
  auto exclusive_resource = parse_exclusive(topology, exclusive);
  if (!exclusive_resource) return propagate(exclusive_resource);
  return JobTable(Allocator(AllocationMachine(topology, *exclusive_resource)), *policy_row);
}

Result<std::optional<std::uint64_t>> JobTable::request(std::uint64_t nodes, std::string_view policy,
                                                       std::string_view fallback) {
  if (nodes == 0) return fail(Code::usage, at("nodes"), "a job needs at least one node", "request 1 or more nodes");
  const auto usable = machine().node_count() - machine().holes().count();
  if (nodes > usable) {
    return fail(Code::infeasible, at("nodes"),
                fmt::format("{} nodes are requested, but the machine has {}", nodes, usable), "request fewer nodes");
  }
  const PolicyInfo* row = policy_;
  if (!policy.empty()) {
    auto found = find_policy(policy);
    if (!found) return propagate(found);
    row = *found;
  }
  auto parsed_fallback = parse_fallback(fallback);
  if (!parsed_fallback) return propagate(parsed_fallback);
  auto allocation = allocate_nodes(allocator_, occupancy_, *row, static_cast<std::uint32_t>(nodes),
                                   {.limits = {}, .fallback = *parsed_fallback});
  if (!allocation) return std::optional<std::uint64_t>();
  return std::optional(add(std::move(*allocation)));
}

Result<std::optional<std::uint64_t>> JobTable::commit(const Proposal& proposal) {
  if (proposal.planner != planner_)
    return fail(Code::usage, at("proposal"), "the proposal was made by another allocator",
                "commit it to the allocator that made it");
  if (!occupancy_.fits(proposal.allocation)) return std::optional<std::uint64_t>();
  return std::optional(add(proposal.allocation));
}

std::uint64_t JobTable::add(Allocation allocation) {
  occupancy_.add(allocation);
  jobs_.emplace(next_job_, std::move(allocation));
  return next_job_++;
}

Result<const Allocation*> JobTable::find(std::uint64_t job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end())
    return fail(Code::bad_input, at("job"), fmt::format("there is no job {}", job), "use a job that was not released");
  return &found->second;
}

Result<void> JobTable::release(std::uint64_t job) {
  auto allocation = find(job);
  if (!allocation) return propagate(allocation);
  occupancy_.remove(**allocation);
  jobs_.erase(job);
  return {};
}

Result<void> JobTable::check_node(std::uint64_t node) const {
  if (node < machine().node_count()) {
    if (!machine().holes().test(static_cast<std::uint32_t>(node))) return {};
    return fail(Code::bad_input, at("node"), fmt::format("node {} has no usable core", node),
                "the description of the machine excludes this node");
  }
  return fail(Code::bad_input, at("node"), fmt::format("there is no node {}", node),
              fmt::format("the nodes are 0 to {}", machine().node_count() - 1));
}

Result<void> JobTable::drain(std::uint64_t node, bool failed) {
  if (auto valid = check_node(node); !valid) return valid;
  occupancy_.drain(Node{static_cast<std::uint32_t>(node)}, failed);
  return {};
}

Result<void> JobTable::resume(std::uint64_t node) {
  if (auto valid = check_node(node); !valid) return valid;
  occupancy_.resume(Node{static_cast<std::uint32_t>(node)});
  return {};
}

}  // namespace rankloom::bridge
