// SPDX-License-Identifier: Apache-2.0
// map: overfull cores to valid ones, level by level.
#include "rankloom/map/repair.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "rankloom/map/machine_tree.hpp"
#include "rankloom/model/distance.hpp"

namespace rankloom {
namespace {

constexpr std::uint32_t nowhere = std::numeric_limits<std::uint32_t>::max();

/// Those of a row of parts that still have room, found from any place in the row in nearly constant time: who is full
/// points to the next one, and chains of pointers are shortened on the way (Tarjan 1975).
class OpenRow {
 public:
  explicit OpenRow(const std::vector<std::uint64_t>& room) : left_(room.size() + 2), right_(room.size() + 2) {
    for (std::uint32_t at = 0; at < left_.size(); ++at) left_[at] = right_[at] = at;
    for (std::uint32_t part = 0; part < room.size(); ++part) {
      if (room[part] == 0) close(part);
    }
  }
  void close(std::uint32_t part) {
    left_[part + 1] = part;
    right_[part + 1] = part + 2;
  }
  /// The first open one below `part`, or from `part` on; `nowhere` when there is none.
  std::uint32_t below(std::uint32_t part) { return named(end_of(left_, part)); }
  std::uint32_t from(std::uint32_t part) { return named(end_of(right_, part + 1)); }

 private:
  static std::uint32_t end_of(std::vector<std::uint32_t>& next, std::uint32_t at) {
    while (next[at] != at) at = next[at] = next[next[at]];
    return at;
  }
  std::uint32_t named(std::uint32_t at) const { return at == 0 || at + 1 == left_.size() ? nowhere : at - 1; }

  std::vector<std::uint32_t> left_, right_;  // part p stands at p + 1, between two posts
};

/// One repair under way. Ranks that had to leave their core *float*: their entry in core_of_ is some core of the part
/// in which they are to find a place, one level further down in each step.
class Repair {
 public:
  Repair(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of)
      : affinity_(affinity),
        slots_(problem.capacities),
        tree_(problem.topology, problem.capacities),
        distance_(make_distance(problem.topology,
                                problem.model == CostModel::congestion ? CostModel::hopbytes : problem.model)),
        core_of_(std::move(core_of)),
        seated_(problem.topology.core_count(), 0) {}

  std::vector<Core> run() && {
    const std::vector<std::uint32_t> floating = stand_up();
    if (!floating.empty()) descend(tree_.root(), floating);
    return std::move(core_of_);
  }

 private:
  /// Who has to leave its core, in rising order.
  std::vector<std::uint32_t> stand_up() {
    for (const Core core : core_of_) ++seated_[core];
    std::vector<std::pair<std::uint32_t, std::uint32_t>> crowd;  // those on overfull cores
    std::vector<std::uint32_t> overfull;
    for (std::uint32_t rank = 0; rank < core_of_.size(); ++rank) {
      if (seated_[core_of_[rank]] > slots_[core_of_[rank]]) crowd.emplace_back(index(core_of_[rank]), rank);
    }
    std::sort(crowd.begin(), crowd.end());
    for (const auto& [core, rank] : crowd) {
      if (overfull.empty() || overfull.back() != core) overfull.push_back(core);
    }
    std::vector<MachineTree::Part> to_leave;
    find_parts_to_leave(tree_.root(), overfull, to_leave);
    std::vector<std::uint32_t> floating;
    auto next = crowd.begin();
    for (std::size_t at = 0; at < overfull.size(); ++at) {
      const Core core{overfull[at]};
      std::vector<std::tuple<double, double, std::uint32_t>> by_loss;
      for (; next != crowd.end() && next->first == index(core); ++next) {
        const std::uint32_t rank = next->second;
        const double here = said_inside(rank, index(core), index(core) + 1);
        const double around = said_inside(rank, to_leave[at].begin, to_leave[at].end);
        by_loss.emplace_back(here + around, said_inside(rank, 0, machine_end()), rank);
      }
      std::sort(by_loss.begin(), by_loss.end());
      for (std::uint32_t excess = 0; excess < seated_[core] - slots_[core]; ++excess) {
        floating.push_back(std::get<2>(by_loss[excess]));
      }
      seated_[core] = slots_[core];
    }
    std::sort(floating.begin(), floating.end());
    return floating;
  }

  /// For each of these overfull cores of the part, in rising order, the largest part around it that is overfull too:
  /// those that leave the core may have to leave that.
  void find_parts_to_leave(const MachineTree::Part& part, std::span<const std::uint32_t> overfull,
                           std::vector<MachineTree::Part>& to_leave) const {
    std::uint64_t seated = 0;
    for (std::uint32_t core = part.begin; core < part.end; ++core) seated += seated_[Core{core}];
    if (part.is_core() || seated > tree_.places(part)) {
      to_leave.insert(to_leave.end(), overfull.size(), part);
      return;
    }
    auto next = overfull.begin();
    for (const auto& child : tree_.children(part)) {
      const auto begin = next;
      while (next != overfull.end() && *next < child.end) ++next;
      if (begin != next) find_parts_to_leave(child, {begin, next}, to_leave);
    }
  }
  std::uint32_t machine_end() const { return static_cast<std::uint32_t>(seated_.size()); }

  /// Gives each of them a child of the part, their own where it has room, and goes on in the children.
  void descend(const MachineTree::Part& part, std::span<const std::uint32_t> floating) {
    if (part.is_core()) {
      for (const std::uint32_t rank : floating) core_of_[rank] = Core{part.begin};
      seated_[Core{part.begin}] += static_cast<std::uint32_t>(floating.size());
      return;
    }
    const auto children = tree_.children(part);
    std::vector<std::uint64_t> room;
    for (const auto& child : children) {
      std::uint64_t seated = 0;
      for (std::uint32_t core = child.begin; core < child.end; ++core) seated += seated_[Core{core}];
      room.push_back(tree_.places(child) - seated);
    }
    const auto child_of = [&](std::uint32_t rank) {
      const auto after = std::upper_bound(children.begin(), children.end(), index(core_of_[rank]),
                                          [](std::uint32_t core, const auto& child) { return core < child.begin; });
      return static_cast<std::uint32_t>(after - children.begin() - 1);
    };
    std::vector<std::vector<std::uint32_t>> below(children.size());
    std::vector<std::pair<double, std::uint32_t>> queue;  // who holds most to its child chooses first
    for (const std::uint32_t rank : floating) {
      const auto& own = children[child_of(rank)];
      queue.emplace_back(-said_inside(rank, own.begin, own.end), rank);
    }
    std::sort(queue.begin(), queue.end());
    std::vector<std::uint32_t> homeless;
    for (const auto& [said, rank] : queue) {
      const std::uint32_t own = child_of(rank);
      if (room[own] == 0) {
        homeless.push_back(rank);
        continue;
      }
      --room[own];
      below[own].push_back(rank);
    }
    OpenRow open(room);
    for (const std::uint32_t rank : homeless) {
      const std::uint32_t next = nearest(rank, children, open, child_of);
      if (--room[next] == 0) open.close(next);
      below[next].push_back(rank);
      core_of_[rank] = Core{children[next].begin};
    }
    for (std::size_t child = 0; child < children.size(); ++child) {
      if (!below[child].empty()) descend(children[child], below[child]);
    }
  }

  /// Of the children with room the one where the rank's traffic costs least. Looks at those where its partners sit and
  /// at those around its own, the nearer first, so at a bounded number.
  template <class ChildOf>
  std::uint32_t nearest(std::uint32_t rank, const std::vector<MachineTree::Part>& children, OpenRow& open,
                        const ChildOf& child_of) const {
    std::vector<std::uint32_t> candidates;
    const std::uint32_t begin = children.front().begin, end = children.back().end;
    for (const std::uint32_t partner : affinity_.neighbours(rank)) {
      if (candidates.size() >= most_candidates) break;
      const std::uint32_t core = index(core_of_[partner]);
      if (core < begin || core >= end) continue;
      if (open.from(child_of(partner)) == child_of(partner)) candidates.push_back(child_of(partner));
    }
    std::uint32_t below = child_of(rank), above = below;
    for (std::size_t around = 0; around < most_candidates; around += 2) {
      if (below != nowhere && (below = open.below(below)) != nowhere) candidates.push_back(below);
      if (above != nowhere && (above = open.from(above)) != nowhere) candidates.push_back(above++);
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::pair<double, std::uint32_t> best{std::numeric_limits<double>::infinity(), nowhere};
    for (const std::uint32_t child : candidates) {
      best = std::min(best, {cost_at(rank, Core{children[child].begin}), child});
    }
    return best.second;
  }

  double said_inside(std::uint32_t rank, std::uint32_t begin, std::uint32_t end) const {
    double said = 0;
    const auto near = affinity_.neighbours(rank);
    for (std::size_t edge = 0; edge < near.size(); ++edge) {
      const std::uint32_t core = index(core_of_[near[edge]]);
      if (core >= begin && core < end) said += affinity_.weights(rank)[edge];
    }
    return said;
  }

  /// What the rank's traffic would cost from there. Its partners in the same child count as if on the child's first
  /// core, or near it: the next levels see to the rest.
  double cost_at(std::uint32_t rank, Core there) const {
    return std::visit(
        [&](const auto& distance) {
          double cost = 0;
          const auto near = affinity_.neighbours(rank);
          for (std::size_t edge = 0; edge < near.size(); ++edge) {
            const PairCost pair = distance(there, core_of_[near[edge]]);
            cost += affinity_.weights(rank)[edge] * (pair.per_byte + pair.per_message);
          }
          return cost;
        },
        distance_);
  }

  static constexpr std::size_t most_candidates = 32;

  const Affinity& affinity_;
  const Capacities& slots_;
  MachineTree tree_;
  Distance distance_;
  std::vector<Core> core_of_;
  IdVector<Core, std::uint32_t> seated_;
};

}  // namespace

std::vector<Core> repaired(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of) {
  return Repair(problem, affinity, std::move(core_of)).run();
}

}  // namespace rankloom
