// SPDX-License-Identifier: Apache-2.0
// allocate/scheduler: chooses the nodes of a job from the state of a batch system.
#include "rankloom/allocate/scheduler/scheduler_view.hpp"

#include <algorithm>
#include <numeric>

namespace rankloom {

namespace {

bool contains_all(const Allocation& allocation, std::span<const Node> required) {
  return std::includes(allocation.nodes.begin(), allocation.nodes.end(), required.begin(), required.end());
}

bool is_acceptable(const Allocation& allocation, const PolicyInfo& policy, const AllocationOptions& options) {
  return allocation.isolated || !policy.isolated || options.fallback == Fallback::diameter;
}

/// The largest number of hops between a node and the required nodes, in either direction.
std::uint32_t max_hops(const Network& network, Node node, std::span<const Node> required) {
  std::uint32_t max = 0;
  for (const Node other : required) max = std::max({max, network.hops(node, other), network.hops(other, node)});
  return max;
}

std::vector<Node> sorted_unique(std::span<const Node> nodes) {
  std::vector<Node> all(nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// Both lists are in ascending order.
bool have_common_node(std::span<const Node> a, std::span<const Node> b) {
  return std::any_of(a.begin(), a.end(), [&](Node node) { return std::binary_search(b.begin(), b.end(), node); });
}

/// What follows each occurrence of the key, up to a separator.
std::vector<std::string_view> values_in_comment(std::string_view text, std::string_view key) {
  std::vector<std::string_view> values;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = text.substr(at + key.size());
    values.push_back(rest.substr(0, rest.find_first_of(" ,;\t\n")));
  }
  return values;
}

std::vector<RunningAllocation> with_allocations(const AllocationMachine& machine, std::vector<ScheduledJob> running) {
  const Occupancy empty(machine);
  std::vector<RunningAllocation> all;
  for (ScheduledJob& job : running) all.push_back({make_allocation(machine, empty, std::move(job.nodes)), job.end});
  return all;
}

}  // namespace

std::optional<Allocation> allocate_around(const Allocator& allocator, const Occupancy& occupancy,
                                          const PolicyInfo& policy, std::uint32_t nodes, std::span<const Node> required,
                                          const AllocationOptions& options) {
  if (required.empty()) return allocate_nodes(allocator, occupancy, policy, nodes, options);
  const AllocationMachine& machine = allocator.machine();
  const std::vector<Node> required_nodes = sorted_unique(required);
  for (const Node node : required_nodes) {
    if (!occupancy.free_nodes().test(index(node))) return std::nullopt;
  }
  if (required_nodes.size() >= nodes) {
    Allocation all = make_allocation(machine, occupancy, required_nodes);
    return is_acceptable(all, policy, options) ? std::optional(std::move(all)) : std::nullopt;
  }
  if (occupancy.free_count() < nodes) return std::nullopt;
  std::vector<std::pair<std::uint32_t, Node>> by_distance;
  occupancy.free_nodes().for_each([&](std::uint32_t node) {
    by_distance.emplace_back(max_hops(machine.network(), Node{node}, required_nodes), Node{node});
  });
  std::sort(by_distance.begin(), by_distance.end());
  AllocationOptions isolated_only = options;
  isolated_only.fallback = Fallback::wait;
  std::optional<Allocation> best;
  const auto size_of = [](const Allocation& allocation) {
    return std::pair(allocation.diameter, allocation.shared_resources.count());
  };
  Occupancy neighbourhood = occupancy;
  for (const auto& [distance, node] : by_distance) neighbourhood.drain(node, false);
  for (std::size_t i = 0; i < by_distance.size(); ++i) {
    neighbourhood.resume(by_distance[i].second);
    const bool last_of_its_distance = i + 1 == by_distance.size() || by_distance[i + 1].first != by_distance[i].first;
    if (!last_of_its_distance || neighbourhood.free_count() < nodes) continue;
    auto found = allocate_nodes(allocator, neighbourhood, policy, nodes, isolated_only);
    if (found && contains_all(*found, required_nodes) && (!best || size_of(*found) < size_of(*best)))
      best = std::move(found);
  }
  if (best) return best;
  // No set of the policy contains the required nodes: add the closest free nodes to them.
  std::vector<Node> chosen = required_nodes;
  for (const auto& [distance, node] : by_distance) {
    if (chosen.size() == nodes) break;
    if (!std::binary_search(required_nodes.begin(), required_nodes.end(), node)) chosen.push_back(node);
  }
  std::sort(chosen.begin(), chosen.end());
  Allocation nearest = make_allocation(machine, occupancy, std::move(chosen));
  return is_acceptable(nearest, policy, options) ? std::optional(std::move(nearest)) : std::nullopt;
}

SchedulerView::SchedulerView(const Allocator& allocator, const PolicyInfo& policy, std::vector<ScheduledJob> running)
    : SchedulerView(allocator, policy, with_allocations(allocator.machine(), std::move(running))) {}

SchedulerView::SchedulerView(const Allocator& allocator, const PolicyInfo& policy,
                             std::vector<RunningAllocation> running)
    : allocator_(&allocator), policy_(&policy), occupancy_(allocator.machine()) {
  std::stable_sort(running.begin(), running.end(),
                   [](const RunningAllocation& a, const RunningAllocation& b) { return a.end < b.end; });
  for (RunningAllocation& job : running) {
    ends_.push_back(job.end);
    job.allocation.isolated = !occupancy_.conflicts_with(job.allocation.shared_resources);
    allocations_.push_back(std::move(job.allocation));
    occupancy_.add(allocations_.back());
  }
}

std::optional<Allocation> SchedulerView::find(Occupancy occupancy, const NodeRequest& request) const {
  for (std::uint32_t node = 0; node < allocator_->machine().node_count(); ++node) {
    if (!request.usable.test(node) && occupancy.is_available(Node{node})) occupancy.drain(Node{node}, false);
  }
  return allocate_around(*allocator_, occupancy, *policy_, request.nodes, request.required, request.allocation);
}

std::optional<Allocation> SchedulerView::now(const NodeRequest& request) const {
  return find(occupancy_, request);
}

std::optional<Allocation> SchedulerView::on_empty_machine(const NodeRequest& request) const {
  return find(Occupancy(allocator_->machine()), request);
}

bool SchedulerView::is_valid_next_to(const Allocation& allocation, const std::vector<const Allocation*>& jobs,
                                     const NodeRequest& request) const {
  Occupancy others = occupancy_;
  for (const Allocation* const job : jobs) {
    if (have_common_node(job->nodes, allocation.nodes)) others.remove(*job);
  }
  return is_acceptable(make_allocation(allocator_->machine(), others, allocation.nodes), *policy_, request.allocation);
}

std::optional<Allocation> SchedulerView::after_preemption(const NodeRequest& request,
                                                          std::span<const std::vector<Node>> candidates) const {
  Occupancy future = occupancy_;
  std::vector<const Allocation*> removed;
  for (const std::vector<Node>& nodes : candidates) {
    const auto job = std::find_if(allocations_.begin(), allocations_.end(), [&](const Allocation& running) {
      return running.nodes == nodes && std::find(removed.begin(), removed.end(), &running) == removed.end();
    });
    if (job == allocations_.end()) continue;
    future.remove(*job);
    removed.push_back(&*job);
    auto found = find(future, request);
    if (found && is_valid_next_to(*found, removed, request)) return found;
  }
  return std::nullopt;
}

/// If the job fits at some moment it also fits later, so bisection finds the first one (as in the EASY queue of the
/// replay).
std::optional<Plan> SchedulerView::later(const NodeRequest& request) const {
  const auto after = [&](std::size_t ended) {
    Occupancy future = occupancy_;
    for (std::size_t i = 0; i < ended; ++i) future.remove(allocations_[i]);
    return find(std::move(future), request);
  };
  std::size_t low = 1, high = allocations_.size();
  if (high == 0) return std::nullopt;
  std::optional<Allocation> found;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (auto allocation = after(middle)) {
      high = middle;
      found = std::move(allocation);
    } else {
      low = middle + 1;
      found.reset();
    }
  }
  if (!found) found = after(high);
  if (!found) return std::nullopt;
  return Plan{ends_[high - 1], std::move(*found)};
}

std::optional<Fallback> fallback_from_comment(std::string_view text) {
  std::optional<Fallback> found;
  for (const std::string_view word : values_in_comment(text, "rankloom:fallback=")) {
    for (const Fallback fallback : {Fallback::wait, Fallback::diameter, Fallback::isolated}) {
      if (name_of(fallback) == word) found = fallback;
    }
  }
  return found;
}

std::string profile_from_comment(std::string_view text) {
  const auto files = values_in_comment(text, "rankloom:profile=");
  return files.empty() ? "" : std::string(files.back());
}

std::string file_of_step_request(std::string_view text) {
  for (const std::string_view prefix : {"strict:", "map:"}) {
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  }
  text = text.substr(0, text.find(','));
  return text == "off" || text == "learn" ? "" : std::string(text);
}

bool is_learn_request(std::string_view text) {
  return text.substr(0, text.find(',')) == "learn";
}

}  // namespace rankloom
