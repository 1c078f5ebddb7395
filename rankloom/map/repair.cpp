// SPDX-License-Identifier: Apache-2.0
// map: moves ranks from overloaded cores to free slots, level by level.
#include "rankloom/map/repair.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "rankloom/core/timing.hpp"
#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/model/machine/distance.hpp"

namespace rankloom {
namespace {

/// No part.
constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

/// The parts of a row that have free slots. Finds the closest one from any part in nearly constant time: a full part
/// points to the next one, and the chains of pointers are compressed (union-find, Tarjan 1975).
class FreeParts {
 public:
  explicit FreeParts(const std::vector<std::uint64_t>& free_slots)
      : left_(free_slots.size() + 2), right_(free_slots.size() + 2) {
    for (std::uint32_t at = 0; at < left_.size(); ++at) left_[at] = right_[at] = at;
    for (std::uint32_t part = 0; part < free_slots.size(); ++part) {
      if (free_slots[part] == 0) mark_full(part);
    }
  }
  void mark_full(std::uint32_t part) {
    left_[part + 1] = part;
    right_[part + 1] = part + 2;
  }
  /// The closest free part before `part`, or from `part` on; `none` if there is none.
  std::uint32_t before(std::uint32_t part) { return part_at(find(left_, part)); }
  std::uint32_t from(std::uint32_t part) { return part_at(find(right_, part + 1)); }

 private:
  static std::uint32_t find(std::vector<std::uint32_t>& next, std::uint32_t at) {
    while (next[at] != at) at = next[at] = next[next[at]];
    return at;
  }
  std::uint32_t part_at(std::uint32_t at) const { return at == 0 || at + 1 == left_.size() ? none : at - 1; }

  std::vector<std::uint32_t> left_, right_;  // part p is at p + 1, between two sentinels
};

/// Ranks that leave their core are *displaced*: their entry in core_of_ is a core of the part in which they will be
/// placed, one level further down in each step.
class Repair {
 public:
  Repair(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of)
      : affinity_(affinity),
        capacities_(problem.capacities),
        tree_(problem.topology, problem.capacities),
        distance_(make_distance(problem.topology, pairwise_model(problem.model))),
        core_of_(std::move(core_of)),
        placed_(problem.topology.core_count(), 0) {}

  std::vector<Core> run() && {
    const std::vector<std::uint32_t> displaced = displace_excess_ranks();
    if (!displaced.empty()) place(tree_.root(), displaced);
    return std::move(core_of_);
  }

 private:
  /// Chooses the ranks that leave their core. Returns them in ascending order.
  std::vector<std::uint32_t> displace_excess_ranks() {
    for (const Core core : core_of_) ++placed_[core];
    std::vector<std::pair<std::uint32_t, std::uint32_t>> candidates;  // core, rank: all ranks on overloaded cores
    std::vector<std::uint32_t> overloaded;
    for (std::uint32_t rank = 0; rank < core_of_.size(); ++rank) {
      if (placed_[core_of_[rank]] > capacities_[core_of_[rank]]) candidates.emplace_back(index(core_of_[rank]), rank);
    }
    std::sort(candidates.begin(), candidates.end());
    for (const auto& [core, rank] : candidates) {
      if (overloaded.empty() || overloaded.back() != core) overloaded.push_back(core);
    }
    std::vector<MachineTree::Part> to_leave;
    find_parts_to_leave(tree_.root(), overloaded, to_leave);
    std::vector<std::uint32_t> displaced;
    auto next = candidates.begin();
    for (std::size_t at = 0; at < overloaded.size(); ++at) {
      const Core core{overloaded[at]};
      std::vector<std::tuple<double, double, std::uint32_t>> by_loss;
      for (; next != candidates.end() && next->first == index(core); ++next) {
        const std::uint32_t rank = next->second;
        const double inside_core = traffic_inside(rank, index(core), index(core) + 1);
        const double inside_part = traffic_inside(rank, to_leave[at].begin, to_leave[at].end);
        by_loss.emplace_back(inside_core + inside_part, traffic_inside(rank, 0, machine_end()), rank);
      }
      std::sort(by_loss.begin(), by_loss.end());
      for (std::uint32_t excess = 0; excess < placed_[core] - capacities_[core]; ++excess) {
        displaced.push_back(std::get<2>(by_loss[excess]));
      }
      placed_[core] = capacities_[core];
    }
    std::sort(displaced.begin(), displaced.end());
    return displaced;
  }

  /// For each of these overloaded cores of the part, in ascending order, the largest part around it that is overloaded
  /// too. Ranks that leave the core may have to leave that part as well.
  void find_parts_to_leave(const MachineTree::Part& part, std::span<const std::uint32_t> overloaded,
                           std::vector<MachineTree::Part>& to_leave) const {
    std::uint64_t placed = 0;
    for (std::uint32_t core = part.begin; core < part.end; ++core) placed += placed_[Core{core}];
    if (part.is_core() || placed > tree_.slots(part)) {
      to_leave.insert(to_leave.end(), overloaded.size(), part);
      return;
    }
    auto next = overloaded.begin();
    for (const auto& child : tree_.children(part)) {
      const auto begin = next;
      while (next != overloaded.end() && *next < child.end) ++next;
      if (begin != next) find_parts_to_leave(child, {begin, next}, to_leave);
    }
  }
  std::uint32_t machine_end() const { return static_cast<std::uint32_t>(placed_.size()); }

  /// Assigns each displaced rank to a child of the part, to its own one if that has free slots; then recursively to the
  /// children of that child.
  void place(const MachineTree::Part& part, std::span<const std::uint32_t> displaced) {
    if (part.is_core()) {
      for (const std::uint32_t rank : displaced) core_of_[rank] = Core{part.begin};
      placed_[Core{part.begin}] += static_cast<std::uint32_t>(displaced.size());
      return;
    }
    const auto children = tree_.children(part);
    std::vector<std::uint64_t> free_slots;
    for (const auto& child : children) {
      std::uint64_t placed = 0;
      for (std::uint32_t core = child.begin; core < child.end; ++core) placed += placed_[Core{core}];
      free_slots.push_back(tree_.slots(child) - placed);
    }
    const auto child_of = [&](std::uint32_t rank) {
      const auto after = std::upper_bound(children.begin(), children.end(), index(core_of_[rank]),
                                          [](std::uint32_t core, const auto& child) { return core < child.begin; });
      return static_cast<std::uint32_t>(after - children.begin() - 1);
    };
    std::vector<std::vector<std::uint32_t>> ranks_of_child(children.size());
    // (-traffic, rank): the rank with the most traffic inside its child chooses first.
    std::vector<std::pair<double, std::uint32_t>> queue;
    for (const std::uint32_t rank : displaced) {
      const auto& own = children[child_of(rank)];
      queue.emplace_back(-traffic_inside(rank, own.begin, own.end), rank);
    }
    std::sort(queue.begin(), queue.end());
    std::vector<std::uint32_t> unplaced;
    for (const auto& [traffic, rank] : queue) {
      const std::uint32_t own = child_of(rank);
      if (free_slots[own] == 0) {
        unplaced.push_back(rank);
        continue;
      }
      --free_slots[own];
      ranks_of_child[own].push_back(rank);
    }
    FreeParts free_parts(free_slots);
    for (const std::uint32_t rank : unplaced) {
      const std::uint32_t next = cheapest_child(rank, children, free_parts, child_of);
      if (--free_slots[next] == 0) free_parts.mark_full(next);
      ranks_of_child[next].push_back(rank);
      core_of_[rank] = Core{children[next].begin};
    }
    for (std::size_t child = 0; child < children.size(); ++child) {
      if (!ranks_of_child[child].empty()) place(children[child], ranks_of_child[child]);
    }
  }

  /// The child with free slots in which the traffic of the rank costs least. Evaluates a bounded number of children:
  /// those of the rank's partners and those closest to its own child.
  template <class ChildOf>
  std::uint32_t cheapest_child(std::uint32_t rank, const std::vector<MachineTree::Part>& children,
                               FreeParts& free_parts, const ChildOf& child_of) const {
    std::vector<std::uint32_t> candidates;
    const std::uint32_t begin = children.front().begin, end = children.back().end;
    for (const std::uint32_t partner : affinity_.neighbours(rank)) {
      if (candidates.size() >= max_candidates) break;
      const std::uint32_t core = index(core_of_[partner]);
      if (core < begin || core >= end) continue;
      if (free_parts.from(child_of(partner)) == child_of(partner)) candidates.push_back(child_of(partner));
    }
    std::uint32_t before = child_of(rank), after = before;
    for (std::size_t around = 0; around < max_candidates; around += 2) {
      if (before != none && (before = free_parts.before(before)) != none) candidates.push_back(before);
      if (after != none && (after = free_parts.from(after)) != none) candidates.push_back(after++);
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    std::pair<double, std::uint32_t> best{std::numeric_limits<double>::infinity(), none};
    for (const std::uint32_t child : candidates) {
      best = std::min(best, {cost_at(rank, Core{children[child].begin}), child});
    }
    return best.second;
  }

  double traffic_inside(std::uint32_t rank, std::uint32_t begin, std::uint32_t end) const {
    double traffic = 0;
    const auto partners = affinity_.neighbours(rank);
    for (std::size_t edge = 0; edge < partners.size(); ++edge) {
      const std::uint32_t core = index(core_of_[partners[edge]]);
      if (core >= begin && core < end) traffic += affinity_.weights(rank)[edge];
    }
    return traffic;
  }

  /// The cost of the traffic of the rank if it were on this core. Partners in the same child count as close to its
  /// first core; the next levels decide about them.
  double cost_at(std::uint32_t rank, Core core_of_rank) const {
    return std::visit(
        [&](const auto& distance) {
          double cost = 0;
          const auto partners = affinity_.neighbours(rank);
          for (std::size_t edge = 0; edge < partners.size(); ++edge) {
            const PairCost pair = distance(core_of_rank, core_of_[partners[edge]]);
            cost += affinity_.weights(rank)[edge] * (pair.per_byte + pair.per_message);
          }
          return cost;
        },
        distance_);
  }

  static constexpr std::size_t max_candidates = 32;

  const Affinity& affinity_;
  const Capacities& capacities_;
  MachineTree tree_;
  Distance distance_;
  std::vector<Core> core_of_;
  IdVector<Core, std::uint32_t> placed_;
};

}  // namespace

std::vector<Core> repair_placement(const MapProblem& problem, const Affinity& affinity, std::vector<Core> core_of) {
  const TimedSection timing("repair");
  return Repair(problem, affinity, std::move(core_of)).run();
}

}  // namespace rankloom
