// SPDX-License-Identifier: Apache-2.0
// map/eager: greedy groups laid on a machine of any shape.
#include "rankloom/map/eager/machines.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/affinity.hpp"
#include "rankloom/map/eager/grouping.hpp"
#include "rankloom/map/machine_tree.hpp"

namespace rankloom {
namespace {

/// Tasks that go to one part of the machine. An element of `affinity` is the rank of that number in `ranks`; empty:
/// element r is rank r.
struct Tasks {
  const Affinity& affinity;
  std::span<const double> loads;  // by element; empty: by number
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
/// so on up to the children of the root. `widths` top down: children of the root, children of a child, ...
std::vector<Groups> group_tree(const Tasks& tasks, std::span<const std::uint32_t> widths, std::uint32_t capacities) {
  std::uint32_t available = 1;
  for (const std::uint32_t width : widths) available *= width;
  std::vector<Groups> levels;
  const Affinity* affinity = &tasks.affinity;
  std::optional<Affinity> between;  // the last groups
  std::vector<double> group_loads;
  std::span<const double> loads = tasks.loads;
  std::uint32_t widest = capacities;
  for (std::size_t level = widths.size(); level-- > 0;) {
    levels.push_back(loads.empty() ? group_evenly(*affinity, available)
                                   : group_by_load(*affinity, loads, available, widest));
    widest = widths[level];
    available /= widths[level];
    // Algorithm 4. As many groups as elements are the elements themselves, in order, each alone.
    if (level == 0 || levels.back().size() == affinity->size()) continue;
    between = affinity->contracted(levels.back());
    affinity = &*between;
    group_loads = loads_of(levels.back(), loads);
    loads = group_loads;
  }
  return levels;
}

/// One placement in the making. Parts of the machine write disjoint ranks, so they may be worked on at the same time.
class Machines {
 public:
  Machines(const Topology& topology, const Capacities& capacities, std::uint32_t ranks)
      : topology_(topology), slots_(capacities), tree_(topology, capacities), core_of_(ranks) {
    if (is_tree(tree_.root()) && tree_.symmetric()) return;
    units_before_.reserve(topology.core_count() + std::size_t{1});
    units_before_.push_back(0);
    for (const Core core : topology.cores()) units_before_.push_back(units_before_.back() + (capacities[core] > 0 ? 1 : 0));
  }

  void place(const Tasks& tasks) {
    if (tasks.affinity.size() > 0) place(tree_.root(), tasks);
  }
  std::vector<Core> result() && { return std::move(core_of_); }

 private:
  /// Its children are joined by levels. Not so the nodes of a routed network, nor the cores of a table.
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
      place_on_tree(part, tasks);
    } else {
      place_on_machines(part, tasks);
    }
  }

  /// Algorithms 1 and 5. An object is known by its number among those of its level: child k of object p is object
  /// p x width + k. There are no private levels, so none has to be passed through.
  void place_on_tree(const MachineTree::Part& part, const Tasks& tasks) {
    const auto widths = tree_.arities(part);
    const auto levels = group_tree(tasks, widths, slots_[Core{part.begin}]);
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

  /// Section 3.6: first who goes to which machine, then each machine by itself. The paper has one step of this, from
  /// the whole to its machines; here every part that is no symmetric tree is split over its children, so switches above
  /// uneven nodes, and packages in an uneven node, count too.
  void place_on_machines(const MachineTree::Part& part, const Tasks& tasks) {
    const auto machines = tree_.children(part);
    const Groups groups = split(machines, tasks);
    Groups larger;  // those with something left to decide
    std::vector<std::size_t> machine_of;
    for (std::uint32_t at = 0; at < machines.size(); ++at) {
      if (machines[at].is_core()) {
        for (const std::uint32_t element : groups[at]) core_of(tasks, element) = Core{machines[at].begin};
      } else if (!groups[at].empty()) {
        larger.members.insert(larger.members.end(), groups[at].begin(), groups[at].end());
        larger.close();
        machine_of.push_back(at);
      }
    }
    const auto inside = tasks.affinity.split(larger);
    parallel_chunks(larger.size(), 1, [&](std::size_t at, std::size_t) {
      const auto members = larger[static_cast<std::uint32_t>(at)];
      std::vector<std::uint32_t> ranks;
      std::vector<double> loads;
      for (const std::uint32_t element : members) {
        ranks.push_back(tasks.ranks.empty() ? element : tasks.ranks[element]);
        if (!tasks.loads.empty()) loads.push_back(tasks.loads[element]);
      }
      place(machines[machine_of[at]], {inside[at], loads, ranks});
    });
  }

  Groups split(std::span<const MachineTree::Part> machines, const Tasks& tasks) const {
    std::vector<Share> shares;
    shares.reserve(machines.size());
    for (const auto& machine : machines) {
      shares.push_back({.units = units_before_[machine.end] - units_before_[machine.begin],
                        .places = std::min<std::uint64_t>(tree_.places(machine), tasks.affinity.size())});
    }
    return tasks.loads.empty() ? group_by_size(tasks.affinity, fair_sizes(tasks.affinity.size(), shares))
                               : group_by_load(tasks.affinity, tasks.loads, shares);
  }

  const Topology& topology_;
  const Capacities& slots_;
  MachineTree tree_;
  std::vector<std::uint32_t> units_before_;  // by core, with an end: cores that may be used; empty: a symmetric tree
  std::vector<Core> core_of_;
};

}  // namespace

std::vector<Core> eager_placement(const CommGraph& graph, const Topology& topology, const Capacities& capacities,
                                  std::span<const double> loads) {
  const Affinity affinity(graph);
  Machines machines(topology, capacities, graph.rank_count());
  machines.place({affinity, loads, {}});
  return std::move(machines).result();
}

}  // namespace rankloom
