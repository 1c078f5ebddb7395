// SPDX-License-Identifier: Apache-2.0
// map/eager: EagerMap on a machine of any shape.
#include "rankloom/map/eager/eager_placement.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/map/eager/greedy_grouping.hpp"
#include "rankloom/map/machine/machine_tree.hpp"

namespace rankloom {
namespace {

/// The tasks of one part of the machine. Element i of `affinity` is rank `ranks[i]`, or rank i if `ranks` is empty.
struct Tasks {
  const Affinity& affinity;
  std::span<const double> loads;  // by element; empty: group by number
  std::span<const std::uint32_t> ranks;
};

std::vector<double> loads_of(const Groups& groups, std::span<const double> loads) {
  std::vector<double> sums;
  if (loads.empty()) return sums;
  sums.reserve(groups.size());
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    double sum = 0;
    for (const std::uint32_t member : groups[group]) sum += loads[member];
    sums.push_back(sum);
  }
  return sums;
}

/// The group tree of Algorithm 1: groups of tasks for the processing units, groups of groups for the level above, and
/// so on up to the children of the root. `widths`, top down: children of the root, children of a child, ...
/// `core_capacity`: the most tasks of a processing unit.
std::vector<Groups> build_group_tree(const Tasks& tasks, std::span<const std::uint32_t> widths,
                                     std::uint32_t core_capacity) {
  std::uint32_t available = 1;
  for (const std::uint32_t width : widths) available *= width;
  std::vector<Groups> levels;
  const Affinity* affinity = &tasks.affinity;
  std::optional<Affinity> group_affinity;  // the matrix between the groups of the previous level
  std::vector<double> group_loads;
  std::span<const double> loads = tasks.loads;
  std::uint32_t max_size = core_capacity;
  for (std::size_t level = widths.size(); level-- > 0;) {
    levels.push_back(loads.empty() ? generate_groups_for_level(*affinity, available)
                                   : generate_groups_by_load(*affinity, loads, available, max_size));
    max_size = widths[level];
    available /= widths[level];
    // RecreateMatrix (Algorithm 4). If every element is a group, the matrix stays the same.
    if (level == 0 || levels.back().size() == affinity->size()) continue;
    group_affinity = affinity->contract(levels.back());
    affinity = &*group_affinity;
    group_loads = loads_of(levels.back(), loads);
    loads = group_loads;
  }
  return levels;
}

/// Builds one placement. Different parts of the machine write disjoint ranks, so they can run in parallel.
class EagerMap {
 public:
  EagerMap(const Topology& topology, const Capacities& capacities, std::uint32_t ranks)
      : topology_(topology), capacities_(capacities), tree_(topology, capacities), core_of_(ranks) {
    if (is_tree(tree_.root()) && tree_.symmetric()) return;
    units_before_.reserve(topology.core_count() + std::size_t{1});
    units_before_.push_back(0);
    for (const Core core : topology.cores())
      units_before_.push_back(units_before_.back() + (capacities[core] > 0 ? 1 : 0));
  }

  void place(const Tasks& tasks) {
    if (tasks.affinity.size() > 0) place(tree_.root(), tasks);
  }
  std::vector<Core> result() && { return std::move(core_of_); }

 private:
  /// The distances between its children depend on the level alone. That is not so for the nodes of a routed network and
  /// for the cores of a distance matrix.
  bool is_tree(const MachineTree::Part& part) const {
    if (part.is_core()) return true;
    return !topology_.is_matrix() && !(topology_.routed() && part.next_level <= topology_.node_level());
  }

  Core& core_of(const Tasks& tasks, std::uint32_t element) {
    return core_of_[tasks.ranks.empty() ? element : tasks.ranks[element]];
  }

  void place(const MachineTree::Part& part, const Tasks& tasks) {
    if (part.is_core()) {
      for (std::uint32_t element = 0; element < tasks.affinity.size(); ++element) {
        core_of(tasks, element) = Core{part.begin};
      }
    } else if (is_tree(part) && tree_.symmetric(part)) {
      map_groups_to_topology(part, tasks);
    } else {
      distribute_to_children(part, tasks);
    }
  }

  /// Algorithm 1 and MapGroupsToTopology (Algorithm 5). An object has a number within its level: child k of object p is
  /// object p x width + k. MachineTree has no private levels, which Algorithm 5 passes through.
  void map_groups_to_topology(const MachineTree::Part& part, const Tasks& tasks) {
    const auto widths = tree_.arities(part);
    const auto levels = build_group_tree(tasks, widths, capacities_[Core{part.begin}]);
    std::vector<std::uint32_t> object(levels.back().size()), below;
    std::iota(object.begin(), object.end(), 0);
    for (std::size_t level = levels.size() - 1; level > 0; --level) {
      const Groups& groups = levels[level];
      const std::uint32_t width = widths[widths.size() - level];
      below.resize(groups.members.size());
      for (std::uint32_t group = 0; group < groups.size(); ++group) {
        std::uint32_t child = object[group] * width;
        assert(groups[group].size() <= width);
        for (const std::uint32_t member : groups[group]) below[member] = child++;
      }
      object.swap(below);
    }
    for (std::uint32_t group = 0; group < levels.front().size(); ++group) {
      for (const std::uint32_t element : levels.front()[group]) {
        core_of(tasks, element) = Core{part.begin + object[group]};
      }
    }
  }

  /// Section 3.6: the tasks are divided over the machines, then each machine is mapped by itself. The paper does this
  /// once, for the machines of a cluster. Here it is done for the children of every part that is not a symmetric tree,
  /// so it also covers switches above different nodes and packages of an uneven node.
  void distribute_to_children(const MachineTree::Part& part, const Tasks& tasks) {
    const auto machines = tree_.children(part);
    const Groups groups = divide(machines, tasks);
    Groups inner;  // the groups of machines with several cores
    std::vector<std::size_t> machine_of;
    for (std::uint32_t at = 0; at < machines.size(); ++at) {
      if (machines[at].is_core()) {
        for (const std::uint32_t element : groups[at]) core_of(tasks, element) = Core{machines[at].begin};
      } else if (!groups[at].empty()) {
        inner.members.insert(inner.members.end(), groups[at].begin(), groups[at].end());
        inner.close();
        machine_of.push_back(at);
      }
    }
    const auto affinities = tasks.affinity.split(inner);
    parallel_chunks(inner.size(), 1, [&](std::size_t at, std::size_t) {
      const auto members = inner[static_cast<std::uint32_t>(at)];
      std::vector<std::uint32_t> ranks;
      std::vector<double> loads;
      for (const std::uint32_t element : members) {
        ranks.push_back(tasks.ranks.empty() ? element : tasks.ranks[element]);
        if (!tasks.loads.empty()) loads.push_back(tasks.loads[element]);
      }
      place(machines[machine_of[at]], {affinities[at], loads, ranks});
    });
  }

  Groups divide(std::span<const MachineTree::Part> machines, const Tasks& tasks) const {
    std::vector<MachineShare> shares;
    shares.reserve(machines.size());
    for (const auto& machine : machines) {
      shares.push_back({.units = units_before_[machine.end] - units_before_[machine.begin],
                        .capacity = std::min<std::uint64_t>(tree_.slots(machine), tasks.affinity.size())});
    }
    return tasks.loads.empty()
               ? generate_groups_of_sizes(tasks.affinity, proportional_sizes(tasks.affinity.size(), shares))
               : generate_groups_by_load(tasks.affinity, tasks.loads, shares);
  }

  const Topology& topology_;
  const Capacities& capacities_;
  MachineTree tree_;
  std::vector<std::uint32_t> units_before_;  // by core, with an end: usable cores before it; empty: a symmetric tree
  std::vector<Core> core_of_;
};

}  // namespace

std::vector<Core> eager_placement(const CommGraph& graph, const Topology& topology, const Capacities& capacities,
                                  std::span<const double> loads) {
  const Affinity affinity(graph);
  EagerMap eager_map(topology, capacities, graph.rank_count());
  eager_map.place({affinity, loads, {}});
  return std::move(eager_map).result();
}

}  // namespace rankloom
