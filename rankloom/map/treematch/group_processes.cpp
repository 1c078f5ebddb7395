// SPDX-License-Identifier: Apache-2.0
// map/treematch: one step of grouping.
#include "rankloom/map/treematch/group_processes.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "rankloom/map/treematch/best_grouping.hpp"
#include "rankloom/map/treematch/candidate_groups.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t nobody = std::numeric_limits<std::uint32_t>::max();

class Grouping {
 public:
  Grouping(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition)
      : affinity_(affinity), request_(request), stop_condition_(stop_condition), is_free_(affinity.size(), true) {
    for (std::uint32_t group = 0; group < request.groups; ++group) {
      room_.push_back(group < request.full ? request.size : request.size - 1);
    }
    groups_.resize(request.groups);
  }

  Groups run() && {
    take(request_.size, std::min(request_.full, request_.groups));
    if (request_.full < request_.groups) take(request_.size - 1, request_.groups - request_.full);
    fill();
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
  /// Takes candidates of this size until there are none, or so many groups are made.
  void take(std::uint32_t size, std::uint32_t most) {
    if (size < 2 || most == 0) return;
    first_open_ = next_of_size(size, 0);
    if (size > max_listed_size) {
      grow_in_turn(size, most);
      return;
    }
    while (most > 0 && !stop_condition_.should_stop_now()) {
      // Pairs are no more than the edges, so they are always listed.
      const std::uint64_t limit =
          size == 2 ? std::max(request_.candidates, affinity_.edge_count()) : request_.candidates;
      auto listed = list_candidates(affinity_, is_free_, size, limit);
      const bool complete = listed.has_value();
      const Candidates candidates = complete ? *std::move(listed) : grow_candidates(affinity_, is_free_, size);
      const std::uint32_t taken =
          request_.order == GroupOrder::scarce ? take_scarce(candidates, most) : take_in_order(candidates, most);
      most -= taken;
      if (complete || taken == 0) break;
    }
  }

  /// Smaller is better.
  double key(const Candidates& candidates, std::uint32_t candidate) const {
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
    room_[first_open_] = 0;
    for (const std::uint32_t member : members) is_free_[member] = false;
    first_open_ = next_of_size(size, first_open_);
  }
  std::uint32_t next_of_size(std::uint32_t size, std::uint32_t group) const {
    while (group < room_.size() && room_[group] != size) ++group;
    return group;
  }

  std::uint32_t take_in_order(const Candidates& candidates, std::uint32_t most) {
    std::vector<std::pair<double, std::uint32_t>> order;
    order.reserve(candidates.count());
    for (std::uint32_t at = 0; at < candidates.count(); ++at) order.emplace_back(key(candidates, at), at);
    std::sort(order.begin(), order.end());
    std::uint32_t taken = 0;
    for (const auto& [value, candidate] : order) {
      if (taken == most) break;
      if (!all_free(candidates[candidate])) continue;
      make_group(candidates[candidate]);
      ++taken;
    }
    return taken;
  }

  /// Rivals of a candidate are counted as the open candidates of its members; whenever that falls, the candidate is
  /// queued once more.
  std::uint32_t take_scarce(const Candidates& candidates, std::uint32_t most) {
    std::vector<std::uint32_t> open(affinity_.size(), 0);  // candidates of each element
    std::vector<std::vector<std::uint32_t>> with(affinity_.size());
    for (std::uint32_t at = 0; at < candidates.count(); ++at) {
      for (const std::uint32_t member : candidates[at]) with[member].push_back(at);
    }
    for (std::uint32_t element = 0; element < open.size(); ++element) {
      open[element] = static_cast<std::uint32_t>(with[element].size());
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
    std::uint32_t taken = 0;
    std::vector<std::uint32_t> changed;
    while (!queue.empty() && taken < most) {
      const std::uint32_t best = queue.top().candidate;
      queue.pop();
      if (!is_open[best]) continue;
      make_group(candidates[best]);
      ++taken;
      changed.clear();
      for (const std::uint32_t member : candidates[best]) {
        for (const std::uint32_t rival : with[member]) {
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
        for (const std::uint32_t candidate : with[element]) {
          if (is_open[candidate]) enqueue(candidate);
        }
      }
    }
    return taken;
  }

  /// Group after group: from the lowest free element on, always who says most to those already in.
  void grow_in_turn(std::uint32_t size, std::uint32_t most) {
    std::vector<double> pull(affinity_.size(), 0.0);
    std::vector<std::uint32_t> members, pulled;
    for (std::uint32_t seed = 0; seed < affinity_.size() && most > 0 && !stop_condition_.should_stop(); ++seed) {
      if (!is_free_[seed]) continue;
      std::priority_queue<std::pair<double, std::uint32_t>>
          queue;  // elements counted down, so that the lowest is first
      queue.emplace(0, nobody - seed);
      while (!queue.empty() && members.size() < size) {
        const auto [said, name] = queue.top();
        const std::uint32_t element = nobody - name;
        queue.pop();
        if (!is_free_[element] || said != pull[element]) continue;
        members.push_back(element);
        is_free_[element] = false;
        const auto near = affinity_.neighbours(element);
        for (std::size_t edge = 0; edge < near.size(); ++edge) {
          if (!is_free_[near[edge]]) continue;
          if (pull[near[edge]] == 0) pulled.push_back(near[edge]);
          pull[near[edge]] += affinity_.weights(element)[edge];
          queue.emplace(pull[near[edge]], nobody - near[edge]);
        }
      }
      if (members.size() == size) {
        make_group(members);
        --most;
      } else {
        leftovers_.push_back(members);  // all that hangs together with the seed; fill() sees to it
      }
      for (const std::uint32_t element : pulled) pull[element] = 0;
      pulled.clear();
      members.clear();
    }
    for (const auto& fragment : leftovers_) {
      for (const std::uint32_t element : fragment) is_free_[element] = true;
    }
    leftovers_.clear();
  }

  /// Who is left goes where there is room: what hangs together stays together where it fits, the largest fragments
  /// first, each into the smallest room that holds it; what fits nowhere is spread, the largest rooms first. When
  /// loose, fragments that have more to say elsewhere get groups of their own, while there are any.
  void fill() {
    auto fragments = free_fragments();
    std::stable_sort(fragments.begin(), fragments.end(),
                     [](const auto& a, const auto& b) { return a.size() > b.size(); });
    std::vector<std::vector<std::uint32_t>> with_room(request_.size + std::size_t{1});  // groups by their room
    for (std::uint32_t group = request_.groups; group-- > 0;) with_room[room_[group]].push_back(group);
    const auto put = [&](std::size_t room, std::span<const std::uint32_t> members) {
      const std::uint32_t group = with_room[room].back();
      with_room[room].pop_back();
      groups_[group].insert(groups_[group].end(), members.begin(), members.end());
      with_room[room - members.size()].push_back(group);
    };
    std::size_t spare = spare_groups(fragments);
    for (const auto& fragment : fragments) {
      if (spare > 0 && fragment.size() < request_.size && !says_nothing_outside(fragment)) {
        --spare;
        put(request_.size, fragment);
        auto& partly = with_room[request_.size - fragment.size()];
        partly.pop_back();  // closed to others
        continue;
      }
      std::size_t room = fragment.size();
      while (room <= request_.size && with_room[room].empty()) ++room;
      if (room <= request_.size) {
        put(room, fragment);
        continue;
      }
      std::span<const std::uint32_t> rest = fragment;
      while (!rest.empty()) {
        for (room = request_.size; with_room[room].empty();) --room;
        const std::size_t some = std::min(room, rest.size());
        put(room, rest.first(some));
        rest = rest.subspan(some);
      }
    }
  }

  /// Groups that are not needed to hold everybody, were the fragments packed.
  std::size_t spare_groups(const std::vector<std::vector<std::uint32_t>>& fragments) const {
    if (!request_.loose) return 0;
    std::uint64_t left = 0, open = 0;
    for (const auto& fragment : fragments) left += fragment.size();
    for (const std::uint32_t room : room_) open += room == request_.size ? 1 : 0;
    // Each group that a small fragment has to itself takes a whole group and gives at least one place.
    const std::uint64_t places = open * request_.size;
    return places > left ? static_cast<std::size_t>((places - left) / (request_.size - 1)) : 0;
  }

  bool says_nothing_outside(const std::vector<std::uint32_t>& fragment) const {
    for (const std::uint32_t member : fragment) {
      for (const std::uint32_t neighbour : affinity_.neighbours(member)) {
        if (std::find(fragment.begin(), fragment.end(), neighbour) == fragment.end()) return false;
      }
    }
    return true;
  }

  /// The free elements by what hangs together, each in the order in which it is met from its lowest element on.
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
  std::vector<std::uint32_t> room_;  // of each group
  std::vector<std::vector<std::uint32_t>> groups_;
  std::vector<std::vector<std::uint32_t>> leftovers_;
  std::uint32_t first_open_ = 0;
};

}  // namespace

Groups group_by_affinity(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition) {
  const bool even = request.full < request.groups;
  if (affinity.size() <= max_optimal_size && !even) return best_grouping(affinity, request.size, request.groups);
  return Grouping(affinity, request, stop_condition).run();
}

}  // namespace rankloom
