// SPDX-License-Identifier: Apache-2.0
// map/treematch: GroupProcesses, one level of TreeMatch, and the optimal grouping of a few elements.
#include "rankloom/map/treematch/group_processes.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/treematch/candidate_groups.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t max_element = std::numeric_limits<std::uint32_t>::max();

class Grouping {
 public:
  Grouping(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition)
      : affinity_(affinity), request_(request), stop_condition_(stop_condition), is_free_(affinity.size(), true) {
    for (std::uint32_t group = 0; group < request.groups; ++group) {
      free_slots_.push_back(group < request.full_groups ? request.size : request.size - 1);
    }
    groups_.resize(request.groups);
  }

  Groups run() && {
    make_groups(request_.size, std::min(request_.full_groups, request_.groups));
    if (request_.full_groups < request_.groups) {
      make_groups(request_.size - 1, request_.groups - request_.full_groups);
    }
    distribute_remaining();
    Groups groups;
    for (auto& members : groups_) {
      if (members.empty()) continue;
      std::sort(members.begin(), members.end());
      groups.members.insert(groups.members.end(), members.begin(), members.end());
      groups.close();
    }
    return groups;
  }

 private:
  /// Makes up to `count` groups of this size from candidates.
  void make_groups(std::uint32_t size, std::uint32_t count) {
    if (size < 2 || count == 0) return;
    first_open_ = next_of_size(size, 0);
    if (size > max_listed_size) {
      grow_groups(size, count);
      return;
    }
    while (count > 0 && !stop_condition_.should_stop_now()) {
      // There are at most as many connected pairs as edges, so pairs are always listed.
      const std::uint64_t limit =
          size == 2 ? std::max(request_.candidates, affinity_.edge_count()) : request_.candidates;
      auto listed = list_candidates(affinity_, is_free_, size, limit);
      const bool complete = listed.has_value();
      const CandidateGroups candidates = complete ? *std::move(listed) : grow_candidates(affinity_, is_free_, size);
      const std::uint32_t made =
          request_.order == GroupOrder::scarce ? choose_scarce(candidates, count) : choose_in_order(candidates, count);
      count -= made;
      if (complete || made == 0) break;
    }
  }

  /// The sort key of the order: smaller is better.
  double key(const CandidateGroups& candidates, std::uint32_t candidate) const {
    switch (request_.order) {
      case GroupOrder::external:
        return candidates.outside(candidate);
      case GroupOrder::ratio:
        return candidates.outside(candidate) / candidates.inside(candidate);
      default:
        return -candidates.inside(candidate);
    }
  }

  bool all_free(std::span<const std::uint32_t> members) const {
    return std::all_of(members.begin(), members.end(), [&](std::uint32_t member) { return is_free_[member]; });
  }

  void make_group(std::span<const std::uint32_t> members) {
    const auto size = static_cast<std::uint32_t>(members.size());
    groups_[first_open_].assign(members.begin(), members.end());
    free_slots_[first_open_] = 0;
    for (const std::uint32_t member : members) is_free_[member] = false;
    first_open_ = next_of_size(size, first_open_);
  }
  std::uint32_t next_of_size(std::uint32_t size, std::uint32_t group) const {
    while (group < free_slots_.size() && free_slots_[group] != size) ++group;
    return group;
  }

  std::uint32_t choose_in_order(const CandidateGroups& candidates, std::uint32_t max_groups) {
    std::vector<std::pair<double, std::uint32_t>> order;
    order.reserve(candidates.count());
    for (std::uint32_t at = 0; at < candidates.count(); ++at) order.emplace_back(key(candidates, at), at);
    std::sort(order.begin(), order.end());
    std::uint32_t made = 0;
    for (const auto& [value, candidate] : order) {
      if (made == max_groups) break;
      if (!all_free(candidates[candidate])) continue;
      make_group(candidates[candidate]);
      ++made;
    }
    return made;
  }

  /// The rivals of a candidate are the open candidates of its members. Whenever their number decreases, the candidate
  /// enters the queue again.
  std::uint32_t choose_scarce(const CandidateGroups& candidates, std::uint32_t max_groups) {
    std::vector<std::uint32_t> open(affinity_.size(), 0);  // by element: the number of its open candidates
    std::vector<std::vector<std::uint32_t>> candidates_of(affinity_.size());
    for (std::uint32_t at = 0; at < candidates.count(); ++at) {
      for (const std::uint32_t member : candidates[at]) candidates_of[member].push_back(at);
    }
    for (std::uint32_t element = 0; element < open.size(); ++element) {
      open[element] = static_cast<std::uint32_t>(candidates_of[element].size());
    }
    struct Entry {
      double value;
      std::uint32_t rivals, candidate;
      bool operator>(const Entry& other) const {
        if (value != other.value) return value > other.value;
        return rivals != other.rivals ? rivals > other.rivals : candidate > other.candidate;
      }
    };
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    std::vector<bool> is_open(candidates.count(), true);
    const auto enqueue = [&](std::uint32_t candidate) {
      std::uint32_t rivals = 0;
      for (const std::uint32_t member : candidates[candidate]) rivals += open[member];
      queue.push({key(candidates, candidate), rivals, candidate});
    };
    for (std::uint32_t at = 0; at < candidates.count(); ++at) enqueue(at);
    std::uint32_t made = 0;
    std::vector<std::uint32_t> changed;
    while (!queue.empty() && made < max_groups) {
      const std::uint32_t best = queue.top().candidate;
      queue.pop();
      if (!is_open[best]) continue;
      make_group(candidates[best]);
      ++made;
      changed.clear();
      for (const std::uint32_t member : candidates[best]) {
        for (const std::uint32_t rival : candidates_of[member]) {
          if (!is_open[rival]) continue;
          is_open[rival] = false;
          for (const std::uint32_t other : candidates[rival]) {
            --open[other];
            if (is_free_[other]) changed.push_back(other);
          }
        }
      }
      std::sort(changed.begin(), changed.end());
      changed.erase(std::unique(changed.begin(), changed.end()), changed.end());
      for (const std::uint32_t element : changed) {
        for (const std::uint32_t candidate : candidates_of[element]) {
          if (is_open[candidate]) enqueue(candidate);
        }
      }
    }
    return made;
  }

  /// Grows one group after another: from the lowest free element, the element with the most traffic to the group joins.
  void grow_groups(std::uint32_t size, std::uint32_t count) {
    std::vector<double> weight(affinity_.size(), 0.0);  // by element: its traffic to the group
    std::vector<std::uint32_t> members, weighted;
    for (std::uint32_t seed = 0; seed < affinity_.size() && count > 0 && !stop_condition_.should_stop(); ++seed) {
      if (!is_free_[seed]) continue;
      // The queue contains max_element - element, so that the lowest element of equal weight is first.
      std::priority_queue<std::pair<double, std::uint32_t>> queue;
      queue.emplace(0, max_element - seed);
      while (!queue.empty() && members.size() < size) {
        const auto [queued_weight, reversed] = queue.top();
        const std::uint32_t element = max_element - reversed;
        queue.pop();
        if (!is_free_[element] || queued_weight != weight[element]) continue;
        members.push_back(element);
        is_free_[element] = false;
        const auto neighbours = affinity_.neighbours(element);
        for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
          const std::uint32_t neighbour = neighbours[edge];
          if (!is_free_[neighbour]) continue;
          if (weight[neighbour] == 0) weighted.push_back(neighbour);
          weight[neighbour] += affinity_.weights(element)[edge];
          queue.emplace(weight[neighbour], max_element - neighbour);
        }
      }
      if (members.size() == size) {
        make_group(members);
        --count;
      } else {
        leftovers_.push_back(members);  // a whole connected component, for distribute_remaining()
      }
      for (const std::uint32_t element : weighted) weight[element] = 0;
      weighted.clear();
      members.clear();
    }
    for (const auto& fragment : leftovers_) {
      for (const std::uint32_t element : fragment) is_free_[element] = true;
    }
    leftovers_.clear();
  }

  /// Distributes the remaining elements over the groups with free slots. Fragments (connected components of free
  /// elements) stay together if possible: the largest fragment first, each into the group with the fewest sufficient
  /// free slots. A fragment that fits into no group is spread, over the groups with the most free slots first. With
  /// prefer_connected, a fragment with traffic to elements outside gets a separate group while there are spare groups.
  void distribute_remaining() {
    auto fragments = free_fragments();
    std::stable_sort(fragments.begin(), fragments.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::vector<std::uint32_t>> groups_with(request_.size + std::size_t{1});  // by number of free slots
    for (std::uint32_t group = request_.groups; group-- > 0;) groups_with[free_slots_[group]].push_back(group);
    const auto add_to_group_with = [&](std::size_t free_slots, std::span<const std::uint32_t> members) {
      const std::uint32_t group = groups_with[free_slots].back();
      groups_with[free_slots].pop_back();
      groups_[group].insert(groups_[group].end(), members.begin(), members.end());
      groups_with[free_slots - members.size()].push_back(group);
    };
    std::size_t spare = spare_groups(fragments);
    for (const auto& fragment : fragments) {
      if (spare > 0 && fragment.size() < request_.size && !is_isolated(fragment)) {
        --spare;
        add_to_group_with(request_.size, fragment);
        groups_with[request_.size - fragment.size()].pop_back();  // no other fragment may join
        continue;
      }
      std::size_t free_slots = fragment.size();
      while (free_slots <= request_.size && groups_with[free_slots].empty()) ++free_slots;
      if (free_slots <= request_.size) {
        add_to_group_with(free_slots, fragment);
        continue;
      }
      std::span<const std::uint32_t> rest = fragment;
      while (!rest.empty()) {
        for (free_slots = request_.size; groups_with[free_slots].empty();) --free_slots;
        const std::size_t count = std::min(free_slots, rest.size());
        add_to_group_with(free_slots, rest.first(count));
        rest = rest.subspan(count);
      }
    }
  }

  /// The number of groups that are not needed if the fragments are packed.
  std::size_t spare_groups(const std::vector<std::vector<std::uint32_t>>& fragments) const {
    if (!request_.prefer_connected) return 0;
    std::uint64_t elements = 0, empty_groups = 0;
    for (const auto& fragment : fragments) elements += fragment.size();
    for (const std::uint32_t free_slots : free_slots_) empty_groups += free_slots == request_.size ? 1 : 0;
    // A small fragment in a separate group uses at least one slot and wastes at most the others.
    const std::uint64_t slots = empty_groups * request_.size;
    return slots > elements ? static_cast<std::size_t>((slots - elements) / (request_.size - 1)) : 0;
  }

  /// The fragment has no traffic to other elements.
  bool is_isolated(const std::vector<std::uint32_t>& fragment) const {
    for (const std::uint32_t member : fragment) {
      for (const std::uint32_t neighbour : affinity_.neighbours(member)) {
        if (std::find(fragment.begin(), fragment.end(), neighbour) == fragment.end()) return false;
      }
    }
    return true;
  }

  /// The connected components of the free elements, each in breadth-first order from its lowest element.
  std::vector<std::vector<std::uint32_t>> free_fragments() {
    std::vector<std::vector<std::uint32_t>> fragments;
    for (std::uint32_t lowest = 0; lowest < affinity_.size(); ++lowest) {
      if (!is_free_[lowest]) continue;
      std::vector<std::uint32_t> fragment{lowest};
      is_free_[lowest] = false;
      for (std::size_t at = 0; at < fragment.size(); ++at) {
        for (const std::uint32_t neighbour : affinity_.neighbours(fragment[at])) {
          if (!is_free_[neighbour]) continue;
          is_free_[neighbour] = false;
          fragment.push_back(neighbour);
        }
      }
      fragments.push_back(std::move(fragment));
    }
    return fragments;
  }

  const Affinity& affinity_;
  const GroupingRequest& request_;
  StopCondition& stop_condition_;
  std::vector<bool> is_free_;
  std::vector<std::uint32_t> free_slots_;  // by group
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::vector<std::uint32_t>> leftovers_;
  std::uint32_t first_open_ = 0;
};

}  // namespace

Groups group_processes(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition) {
  const TimedSection timing("grouping");
  const bool even = request.full_groups < request.groups;
  if (affinity.size() <= max_optimal_size && !even) return optimal_grouping(affinity, request.size, request.groups);
  return Grouping(affinity, request, stop_condition).run();
}

namespace {

using Set = std::uint32_t;

/// The traffic inside each subset.
std::vector<double> traffic_inside(const Affinity& affinity) {
  std::vector<double> inside(std::size_t{1} << affinity.size(), 0.0);
  for (Set set = 1; set < inside.size(); ++set) {
    const auto lowest = static_cast<std::uint32_t>(std::countr_zero(set));
    inside[set] = inside[set & (set - 1)];
    const auto neighbours = affinity.neighbours(lowest);
    for (std::size_t edge = 0; edge < neighbours.size(); ++edge) {
      if (((set >> neighbours[edge]) & 1) != 0) inside[set] += affinity.weights(lowest)[edge];
    }
  }
  return inside;
}

}  // namespace

Groups optimal_grouping(const Affinity& affinity, std::uint32_t size, std::uint32_t max_groups) {
  const std::vector<double> inside = traffic_inside(affinity);
  const auto all_elements = static_cast<Set>(inside.size() - 1);
  const std::uint32_t max_k = std::min(max_groups, affinity.size());
  // best[k][set]: the largest traffic inside groups when the set is divided into at most k groups; choice[k][set]: the
  // group that contains the set's lowest element.
  const double impossible = -std::numeric_limits<double>::infinity();
  std::vector<std::vector<double>> best(max_k + std::size_t{1}, std::vector<double>(inside.size(), impossible));
  std::vector<std::vector<Set>> choice(max_k + std::size_t{1}, std::vector<Set>(inside.size(), 0));
  for (auto& row : best) row[0] = 0;
  for (std::uint32_t k = 1; k <= max_k; ++k) {
    for (Set set = 1; set < inside.size(); ++set) {
      const Set lowest = set & -set, others = set ^ lowest;
      if (static_cast<std::uint64_t>(std::popcount(set)) > std::uint64_t{k} * size) continue;
      for (Set more = others;; more = (more - 1) & others) {
        const Set group = more | lowest;
        const double value = inside[group] + best[k - 1][set ^ group];
        if (static_cast<std::uint32_t>(std::popcount(group)) <= size && value > best[k][set]) {
          best[k][set] = value;
          choice[k][set] = group;
        }
        if (more == 0) break;
      }
    }
  }
  std::uint32_t k = max_k;
  while (k > 1 && best[k - 1][all_elements] == best[max_k][all_elements]) --k;
  Groups groups;
  for (Set set = all_elements; set != 0; set ^= choice[k][set], --k) {
    const Set group = choice[k][set];
    for (std::uint32_t element = 0; element < affinity.size(); ++element) {
      if (((group >> element) & 1) != 0) groups.members.push_back(element);
    }
    groups.close();
    if ((set ^ group) == 0) break;
  }
  return groups;
}

}  // namespace rankloom
