// SPDX-License-Identifier: Apache-2.0
// allocate: from what a batch system knows to the nodes of a job.
#include "rankloom/allocate/scheduler/scheduler_view.hpp"

#include <algorithm>
#include <numeric>

namespace rankloom {

namespace {

bool holds(const Allotment& allotment, std::span<const Node> required) {
  return std::includes(allotment.nodes.begin(), allotment.nodes.end(), required.begin(), required.end());
}

bool acceptable(const Allotment& allotment, const PolicyInfo& policy, const PlaceOptions& options) {
  return allotment.closed || !policy.closed || options.fallback == Fallback::diameter;
}

/// How far a node is from the farthest of the given ones, both ways.
std::uint32_t reach(const Network& network, Node node, std::span<const Node> required) {
  std::uint32_t most = 0;
  for (const Node other : required) most = std::max({most, network.hops(node, other), network.hops(other, node)});
  return most;
}

std::vector<Node> sorted(std::span<const Node> nodes) {
  std::vector<Node> all(nodes.begin(), nodes.end());
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::optional<Allotment> place_around(const Allocator& allocator, const Occupancy& occupancy, const PolicyInfo& policy,
                                      std::uint32_t nodes, std::span<const Node> required,
                                      const PlaceOptions& options) {
  if (required.empty()) return place(allocator, occupancy, policy, nodes, options);
  const AllocationMachine& machine = allocator.machine();
  const std::vector<Node> given = sorted(required);
  for (const Node node : given) {
    if (!occupancy.free().test(index(node))) return std::nullopt;
  }
  if (given.size() >= nodes) {
    Allotment all = describe(machine, occupancy, given);
    return acceptable(all, policy, options) ? std::optional(std::move(all)) : std::nullopt;
  }
  if (occupancy.free_count() < nodes) return std::nullopt;
  std::vector<std::pair<std::uint32_t, Node>> by_reach;
  occupancy.free().each(
      [&](std::uint32_t node) { by_reach.emplace_back(reach(machine.network(), Node{node}, given), Node{node}); });
  std::sort(by_reach.begin(), by_reach.end());
  PlaceOptions closed_only = options;
  closed_only.fallback = Fallback::wait;
  std::optional<Allotment> best;
  const auto size_of = [](const Allotment& one) { return std::pair(one.diameter, one.passages.count()); };
  Occupancy near = occupancy;
  for (const auto& [distance, node] : by_reach) near.drain(node, false);
  for (std::size_t i = 0; i < by_reach.size(); ++i) {
    near.resume(by_reach[i].second);
    const bool last_of_its_distance = i + 1 == by_reach.size() || by_reach[i + 1].first != by_reach[i].first;
    if (!last_of_its_distance || near.free_count() < nodes) continue;
    auto found = place(allocator, near, policy, nodes, closed_only);
    if (found && holds(*found, given) && (!best || size_of(*found) < size_of(*best))) best = std::move(found);
  }
  if (best) return best;
  // The nearest, the given ones themselves in any case.
  std::vector<Node> chosen = given;
  for (const auto& [distance, node] : by_reach) {
    if (chosen.size() == nodes) break;
    if (!std::binary_search(given.begin(), given.end(), node)) chosen.push_back(node);
  }
  std::sort(chosen.begin(), chosen.end());
  Allotment nearest = describe(machine, occupancy, std::move(chosen));
  return acceptable(nearest, policy, options) ? std::optional(std::move(nearest)) : std::nullopt;
}

SchedulerView::SchedulerView(const Allocator& allocator, const PolicyInfo& policy, std::vector<ScheduledJob> running)
    : allocator_(&allocator), policy_(&policy), occupancy_(allocator.machine()) {
  std::stable_sort(running.begin(), running.end(),
                   [](const ScheduledJob& one, const ScheduledJob& other) { return one.end < other.end; });
  for (ScheduledJob& job : running) {
    ends_.push_back(job.end);
    allotments_.push_back(describe(allocator.machine(), occupancy_, std::move(job.nodes)));
    occupancy_.add(allotments_.back());
  }
}

std::optional<Allotment> SchedulerView::find(Occupancy occupancy, const NodeRequest& request) const {
  for (std::uint32_t node = 0; node < allocator_->machine().node_count(); ++node) {
    if (!request.usable.test(node) && !occupancy.drained(Node{node})) occupancy.drain(Node{node}, false);
  }
  return place_around(*allocator_, occupancy, *policy_, request.nodes, request.required, request.place);
}

std::optional<Allotment> SchedulerView::now(const NodeRequest& request) const {
  return find(occupancy_, request);
}

std::optional<Allotment> SchedulerView::ever(const NodeRequest& request) const {
  return find(Occupancy(allocator_->machine()), request);
}

/// More room never hurts, so the moment is found by bisection (as in the replay's EASY queue).
std::optional<Plan> SchedulerView::later(const NodeRequest& request) const {
  const auto after = [&](std::size_t ended) {
    Occupancy future = occupancy_;
    for (std::size_t i = 0; i < ended; ++i) future.remove(allotments_[i]);
    return find(std::move(future), request);
  };
  std::size_t low = 1, high = allotments_.size();
  if (high == 0) return std::nullopt;
  std::optional<Allotment> found;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (auto allotment = after(middle)) {
      high = middle;
      found = std::move(allotment);
    } else {
      low = middle + 1;
      found.reset();
    }
  }
  if (!found) found = after(high);
  if (!found) return std::nullopt;
  return Plan{ends_[high - 1], std::move(*found)};
}

std::optional<Fallback> fallback_in(std::string_view text) {
  constexpr std::string_view key = "rankloom:fallback=";
  std::optional<Fallback> found;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view rest = text.substr(at + key.size());
    const std::string_view word = rest.substr(0, rest.find_first_of(" ,;\t\n"));
    for (const Fallback one : {Fallback::wait, Fallback::diameter, Fallback::closed}) {
      if (name_of(one) == word) found = one;
    }
  }
  return found;
}

}  // namespace rankloom
