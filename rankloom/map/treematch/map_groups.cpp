// SPDX-License-Identifier: Apache-2.0
// map/treematch: groups on an uneven machine.
#include "rankloom/map/treematch/map_groups.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>

#include "rankloom/map/locality_order.hpp"

namespace rankloom {
namespace {

using Part = MachineTree::Part;

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// A group of the tree: an element of one of its levels; level 0 holds the ranks.
struct Piece {
  std::uint64_t ranks;
  std::size_t level;
  std::uint32_t element;
  std::uint32_t wish = nowhere;  ///< The child where the rest of its larger group went.
  /// The smaller one, of equals the later one, waits longer.
  bool operator<(const Piece& other) const {
    if (ranks != other.ranks) return ranks < other.ranks;
    return level != other.level ? level < other.level : element > other.element;
  }
};

class Layout {
 public:
  Layout(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups)
      : tree_(tree), groups_(groups), core_of_(problem.graph.rank_count()), room_before_(1, 0) {
    count_ranks();
    // When ranks are more than places, each core takes what the default order would give it.
    std::uint64_t places = 0;
    for (const Core core : problem.topology.cores()) places += problem.topology.capacity(core);
    std::vector<std::uint64_t> room(problem.topology.core_count(), 0);
    if (problem.graph.rank_count() > places) {
      for (const Core core : block_placement(problem.graph.rank_count(), problem.topology, problem.capacities)) {
        ++room[index(core)];
      }
    } else {
      for (const Core core : problem.topology.cores()) room[index(core)] = problem.capacities[core];
    }
    for (const std::uint64_t here : room) room_before_.push_back(room_before_.back() + here);
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
  Piece piece(std::size_t level, std::uint32_t element, std::uint32_t wish = nowhere) const {
    return {ranks_of_[level][element], level, element, wish};
  }
  std::uint64_t room(const Part& part) const { return room_before_[part.end] - room_before_[part.begin]; }

  /// Pieces that fit in the part together.
  void place(const Part& part, std::vector<Piece> pieces) {
    if (part.is_core()) {
      for (const Piece& each : pieces) put(each, Core{part.begin});
      return;
    }
    auto children = tree_.children(part);
    if (has_network(tree_, part)) children = locality_order(tree_.topology(), children);
    std::vector<std::uint64_t> free;
    std::set<std::pair<std::uint64_t, std::uint32_t>> by_room;
    for (std::uint32_t child = 0; child < children.size(); ++child) {
      free.push_back(room(children[child]));
      by_room.emplace(free.back(), child);
    }
    std::vector<std::vector<Piece>> inside(children.size());
    for (Piece& each : pieces) each.wish = nowhere;
    std::priority_queue<Piece> waiting({}, std::move(pieces));
    while (!waiting.empty()) {
      Piece next = waiting.top();
      waiting.pop();
      const std::uint32_t wish = next.wish;
      const bool granted = wish != nowhere && free[wish] >= next.ranks;
      const auto fitting = granted ? by_room.find({free[wish], wish}) : by_room.lower_bound({next.ranks, 0});
      if (fitting == by_room.end()) {
        take_apart(next, by_room.rbegin()->second, waiting);
        continue;
      }
      const std::uint32_t child = fitting->second;
      by_room.erase(fitting);
      free[child] -= next.ranks;
      by_room.emplace(free[child], child);
      inside[child].push_back(next);
    }
    for (std::uint32_t child = 0; child < children.size(); ++child) {
      if (!inside[child].empty()) place(children[child], std::move(inside[child]));
    }
  }

  /// The members wait in its place. They wish to go where most of them fit: to the largest room there is.
  void take_apart(const Piece& whole, std::uint32_t wish, std::priority_queue<Piece>& waiting) const {
    for (const std::uint32_t member : groups_.levels()[whole.level - 1].groups[whole.element]) {
      waiting.push(piece(whole.level - 1, member, wish));
    }
  }

  void put(const Piece& whole, Core core) {
    if (whole.level == 0) {
      core_of_[whole.element] = core;
      return;
    }
    for (const std::uint32_t member : groups_.levels()[whole.level - 1].groups[whole.element]) {
      put(piece(whole.level - 1, member), core);
    }
  }

  const MachineTree& tree_;
  const GroupTree& groups_;
  std::vector<Core> core_of_;
  std::vector<std::uint64_t> room_before_;            // by core, with an end
  std::vector<std::vector<std::uint64_t>> ranks_of_;  // by level, by element
};

}  // namespace

std::vector<Core> lay_out(const MapProblem& problem, const MachineTree& tree, const GroupTree& groups) {
  return Layout(problem, tree, groups).run();
}

}  // namespace rankloom
