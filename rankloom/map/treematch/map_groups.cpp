// SPDX-License-Identifier: Apache-2.0
// map/treematch: MapGroups for machines whose parts differ.
#include "rankloom/map/treematch/map_groups.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/locality_order.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

constexpr std::uint32_t no_child = std::numeric_limits<std::uint32_t>::max();

/// A group of the tree: an element of one of its levels; the elements of level 0 are the ranks.
struct Piece {
  std::uint64_t ranks;
  std::size_t level;
  std::uint32_t element;
  std::uint32_t preferred_child = no_child;  ///< The child for the other members of its parent group.
  /// The priority: larger groups first, the earlier one of equals.
  bool operator<(const Piece& other) const {
    if (ranks != other.ranks) return ranks < other.ranks;
    return level != other.level ? level < other.level : element > other.element;
  }
};

class GroupMapping {
 public:
  GroupMapping(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups)
      : tree_(tree), groups_(groups), core_of_(problem.graph.rank_count()), capacity_before_(1, 0) {
    count_ranks();
    // With more ranks than slots, each core gets as many ranks as in the block placement.
    std::uint64_t slots = 0;
    for (const Core core : problem.topology.cores()) slots += problem.topology.capacity(core);
    std::vector<std::uint64_t> capacity(problem.topology.core_count(), 0);
    if (problem.graph.rank_count() > slots) {
      for (const Core core : block_placement(problem.graph.rank_count(), problem.topology, problem.capacities)) {
        ++capacity[index(core)];
      }
    } else {
      for (const Core core : problem.topology.cores()) capacity[index(core)] = problem.capacities[core];
    }
    for (const std::uint64_t count : capacity) capacity_before_.push_back(capacity_before_.back() + count);
  }

  std::vector<Core> run() && {
    std::vector<Piece> pieces;
    for (std::uint32_t element = 0; element < groups_.size(); ++element) {
      pieces.push_back(piece(groups_.levels().size(), element));
    }
    place(tree_.root(), std::move(pieces));
    return std::move(core_of_);
  }

 private:
  void count_ranks() {
    ranks_of_.emplace_back(core_of_.size(), 1);
    for (const GroupTree::Level& level : groups_.levels()) {
      std::vector<std::uint64_t> ranks(level.groups.size(), 0);
      for (std::uint32_t group = 0; group < level.groups.size(); ++group) {
        for (const std::uint32_t member : level.groups[group]) ranks[group] += ranks_of_.back()[member];
      }
      ranks_of_.push_back(std::move(ranks));
    }
  }
  Piece piece(std::size_t level, std::uint32_t element, std::uint32_t preferred_child = no_child) const {
    return {ranks_of_[level][element], level, element, preferred_child};
  }
  std::uint64_t capacity(const Part& part) const { return capacity_before_[part.end] - capacity_before_[part.begin]; }

  /// The pieces together fit into the part.
  void place(const Part& part, std::vector<Piece> pieces) {
    if (part.is_core()) {
      for (const Piece& each : pieces) assign(each, Core{part.begin});
      return;
    }
    auto children = tree_.children(part);
    if (has_network(tree_, part)) children = locality_order(tree_.topology(), children);
    std::vector<std::uint64_t> free_slots;
    std::set<std::pair<std::uint64_t, std::uint32_t>> by_free_slots;
    for (std::uint32_t child = 0; child < children.size(); ++child) {
      free_slots.push_back(capacity(children[child]));
      by_free_slots.emplace(free_slots.back(), child);
    }
    std::vector<std::vector<Piece>> pieces_of_child(children.size());
    for (Piece& each : pieces) each.preferred_child = no_child;
    std::priority_queue<Piece> waiting({}, std::move(pieces));
    while (!waiting.empty()) {
      Piece next = waiting.top();
      waiting.pop();
      const std::uint32_t preferred = next.preferred_child;
      const bool fits_preferred = preferred != no_child && free_slots[preferred] >= next.ranks;
      const auto fitting = fits_preferred ? by_free_slots.find({free_slots[preferred], preferred})
                                          : by_free_slots.lower_bound({next.ranks, 0});
      if (fitting == by_free_slots.end()) {
        divide(next, by_free_slots.rbegin()->second, waiting);
        continue;
      }
      const std::uint32_t child = fitting->second;
      by_free_slots.erase(fitting);
      free_slots[child] -= next.ranks;
      by_free_slots.emplace(free_slots[child], child);
      pieces_of_child[child].push_back(next);
    }
    for (std::uint32_t child = 0; child < children.size(); ++child) {
      if (!pieces_of_child[child].empty()) place(children[child], std::move(pieces_of_child[child]));
    }
  }

  /// Replaces a group by its members. They prefer the child with the most free slots, where most of them fit.
  void divide(const Piece& group, std::uint32_t preferred_child, std::priority_queue<Piece>& waiting) const {
    for (const std::uint32_t member : groups_.levels()[group.level - 1].groups[group.element]) {
      waiting.push(piece(group.level - 1, member, preferred_child));
    }
  }

  void assign(const Piece& group, Core core) {
    if (group.level == 0) {
      core_of_[group.element] = core;
      return;
    }
    for (const std::uint32_t member : groups_.levels()[group.level - 1].groups[group.element]) {
      assign(piece(group.level - 1, member), core);
    }
  }

  const MachineTree& tree_;
  const GroupTree& groups_;
  std::vector<Core> core_of_;
  std::vector<std::uint64_t> capacity_before_;        // by core, with an end
  std::vector<std::vector<std::uint64_t>> ranks_of_;  // by level, by element
};

}  // namespace

std::vector<Core> map_groups(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups) {
  const TimedSection timing("placing groups");
  return GroupMapping(problem, tree, groups).run();
}

}  // namespace rankloom
