// SPDX-License-Identifier: Apache-2.0
// capi: nodes for several jobs at once, in memory.
#include <fmt/format.h>

#include "capi/bridge.hpp"

namespace rankloom::bridge {

namespace {

Result<Exclusive> exclusive_of(const Topology& topology, std::string_view name) {
  if (name.empty()) return usual_exclusive(topology.network());
  for (const Exclusive one : {Exclusive::routers, Exclusive::links}) {
    if (name_of(one) == name) return one;
  }
  return fail(Code::usage, at("exclusive"), fmt::format("jobs cannot have '{}' of their own", name),
              "one of: routers, links");
}

Result<Fallback> fallback_of(std::string_view name) {
  if (name.empty()) return Fallback::wait;
  for (const Fallback one : {Fallback::wait, Fallback::diameter, Fallback::closed}) {
    if (name_of(one) == name) return one;
  }
  return fail(Code::usage, at("fallback"), fmt::format("there is no fallback '{}'", name),
              "one of: wait, diameter, closed");
}

}  // namespace

Result<JobTable> JobTable::of(const Topology& topology, std::string_view policy, std::string_view exclusive) {
  if (topology.is_matrix())
    return fail(Code::bad_input, at("topology"), "a table of distances has no routes", "name a machine with a network");
  auto chosen = find_policy(policy.empty() ? "closed-best" : policy);
  if (!chosen) return propagate(chosen);
  auto apart = exclusive_of(topology, exclusive);
  if (!apart) return propagate(apart);
  return JobTable(Allocator(AllocationMachine(topology, *apart)), *chosen);
}

Result<std::optional<std::uint64_t>> JobTable::request(std::uint64_t nodes, std::string_view policy,
                                                       std::string_view fallback) {
  if (nodes == 0) return fail(Code::usage, at("nodes"), "a job of no nodes", "ask for at least one");
  const auto usable = machine().node_count() - machine().holes().count();
  if (nodes > usable) {
    return fail(Code::infeasible, at("nodes"), fmt::format("{} asked for, but the machine has {}", nodes, usable),
                "ask for fewer");
  }
  const PolicyInfo* row = policy_;
  if (!policy.empty()) {
    auto found = find_policy(policy);
    if (!found) return propagate(found);
    row = *found;
  }
  auto otherwise = fallback_of(fallback);
  if (!otherwise) return propagate(otherwise);
  auto allotment =
      place(allocator_, occupancy_, *row, static_cast<std::uint32_t>(nodes), {.limits = {}, .fallback = *otherwise});
  if (!allotment) return std::optional<std::uint64_t>();
  occupancy_.add(*allotment);
  jobs_.emplace(next_, std::move(*allotment));
  return std::optional(next_++);
}

Result<const Allotment*> JobTable::find(std::uint64_t job) const {
  const auto found = jobs_.find(job);
  if (found == jobs_.end())
    return fail(Code::bad_input, at("job"), fmt::format("no job {} runs", job), "name one that was not released");
  return &found->second;
}

Result<void> JobTable::release(std::uint64_t job) {
  auto allotment = find(job);
  if (!allotment) return propagate(allotment);
  occupancy_.remove(**allotment);
  jobs_.erase(job);
  return {};
}

Result<void> JobTable::check_node(std::uint64_t node) const {
  if (node < machine().node_count()) {
    if (!machine().holes().test(static_cast<std::uint32_t>(node))) return {};
    return fail(Code::bad_input, at("node"), fmt::format("no core of node {} is in use", node),
                "the machine's description leaves it out");
  }
  return fail(Code::bad_input, at("node"), fmt::format("there is no node {}", node),
              fmt::format("nodes are 0 to {}", machine().node_count() - 1));
}

Result<void> JobTable::drain(std::uint64_t node, bool failed) {
  if (auto fine = check_node(node); !fine) return fine;
  occupancy_.drain(Node{static_cast<std::uint32_t>(node)}, failed);
  return {};
}

Result<void> JobTable::resume(std::uint64_t node) {
  if (auto fine = check_node(node); !fine) return fine;
  occupancy_.resume(Node{static_cast<std::uint32_t>(node)});
  return {};
}

}  // namespace rankloom::bridge
