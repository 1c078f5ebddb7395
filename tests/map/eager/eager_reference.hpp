// SPDX-License-Identifier: Apache-2.0
// tests/map: a plain reference implementation of EagerMap (Cruz 2019): dense, O(N³), Algorithms 1 to 7 and section 3.6
// line by line. Names and loops are the paper's. "Addition" marks what the paper leaves undefined.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/map/machine/machine_tree.hpp"
#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::testing::paper {

using Matrix = std::vector<std::vector<double>>;

struct Group {
  std::uint32_t id = 0;
  double load = 0;
  std::vector<Group> elements;  // empty: a task
};

inline Matrix comm_matrix(const CommGraph& graph) {
  Matrix matrix(graph.rank_count(), std::vector<double>(graph.rank_count(), 0));
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank to = graph.targets(from)[edge];
      if (from == to) continue;
      matrix[index(from)][index(to)] += graph.bytes(from)[edge];
    }
  }
  for (std::size_t i = 0; i < matrix.size(); ++i) {
    for (std::size_t j = i + 1; j < matrix.size(); ++j) matrix[i][j] = matrix[j][i] = matrix[i][j] + matrix[j][i];
  }
  return matrix;
}

/// The body of the loops of Algorithms 3 and 7.
inline std::uint32_t next_winner(const Matrix& comm, const std::vector<bool>& chosen,
                                 const std::vector<std::uint32_t>& winners) {
  double w_max = -1;
  std::uint32_t winner = 0;
  for (std::uint32_t j = 0; j < comm.size(); ++j) {
    if (chosen[j]) continue;
    double w = 0;
    for (const std::uint32_t k : winners) w += comm[j][k];
    if (w > w_max) {
      w_max = w;
      winner = j;
    }
  }
  return winner;
}

inline void add(Group& group, const Group& element) {
  group.load += element.load;
  group.elements.push_back(element);
}

/// Algorithm 3.
inline Group generate_group(const Matrix& comm, std::uint64_t in_group, std::vector<bool>& chosen,
                            const std::vector<Group>& previous) {
  Group group;
  std::vector<std::uint32_t> winners;
  for (std::uint64_t i = 0; i < in_group; ++i) {
    const std::uint32_t winner = next_winner(comm, chosen, winners);
    chosen[winner] = true;
    winners.push_back(winner);
    add(group, previous[winner]);
  }
  return group;
}

/// Algorithm 2.
inline std::vector<Group> generate_groups_for_level(const Matrix& comm, const std::vector<Group>& previous,
                                                    std::uint64_t avl_groups) {
  const std::uint64_t n_elements = previous.size();
  const std::uint64_t n_groups = std::min(n_elements, avl_groups);
  const std::uint64_t el_per_group = n_elements / n_groups;
  std::uint64_t leftover = n_elements % n_groups;
  std::vector<bool> chosen(n_elements, false);
  std::vector<Group> groups;
  for (std::uint64_t i = 0, in_group = 0; i < n_elements; i += in_group) {
    in_group = el_per_group;
    if (leftover > 0) {
      ++in_group;
      --leftover;
    }
    groups.push_back(generate_group(comm, in_group, chosen, previous));
    groups.back().id = static_cast<std::uint32_t>(groups.size() - 1);
  }
  return groups;
}

/// Algorithm 7. Addition: the group has between `min_size` and `max_size` elements; a load that misses the threshold
/// only by rounding errors has reached it.
inline Group lb_generate_group(const Matrix& comm, std::vector<bool>& chosen, const std::vector<Group>& previous,
                               double load_threshold, std::uint64_t min_size, std::uint64_t max_size) {
  Group group;
  std::vector<std::uint32_t> winners;
  for (std::uint64_t i = 0; i < max_size && (i < min_size || group.load < load_threshold * (1 - 1e-12)); ++i) {
    const std::uint32_t winner = next_winner(comm, chosen, winners);
    chosen[winner] = true;
    winners.push_back(winner);
    add(group, previous[winner]);
  }
  return group;
}

/// Addition: an element that is not chosen has a load.
inline bool load_is_left(const std::vector<bool>& chosen, const std::vector<Group>& previous) {
  for (std::size_t j = 0; j < chosen.size(); ++j) {
    if (!chosen[j] && previous[j].load > 0) return true;
  }
  return false;
}

/// Algorithm 6. Addition: no group has more than `max_size` elements, the remaining elements always fit into the
/// remaining groups, and elements without load are distributed by number.
inline std::vector<Group> lb_generate_groups_for_level(const Matrix& comm, const std::vector<Group>& previous,
                                                       std::uint64_t avl_groups, std::uint64_t max_size) {
  const std::uint64_t n_elements = previous.size();
  std::vector<bool> chosen(n_elements, false);
  double total_load = 0;
  for (const Group& element : previous) total_load += element.load;
  std::vector<Group> groups;
  for (std::uint64_t i = 0; i < n_elements; i += groups.back().elements.size()) {
    const bool loaded = load_is_left(chosen, previous);
    const double load_threshold = loaded ? total_load * (1 / static_cast<double>(avl_groups)) : 0;
    const std::uint64_t left = n_elements - i;
    const std::uint64_t capacity_after = (avl_groups - 1) * max_size;
    std::uint64_t min_size = loaded ? 1 : (left + avl_groups - 1) / avl_groups;
    if (left > capacity_after) min_size = std::max(min_size, left - capacity_after);
    groups.push_back(
        lb_generate_group(comm, chosen, previous, load_threshold, min_size, std::min<std::uint64_t>(left, max_size)));
    groups.back().id = static_cast<std::uint32_t>(groups.size() - 1);
    total_load -= groups.back().load;
    --avl_groups;
  }
  return groups;
}

/// Algorithm 4. (The paper's inner loop runs to groups[j].nElements twice; the first bound must be
/// groups[i].nElements.)
inline Matrix recreate_matrix(const Matrix& comm, const std::vector<Group>& groups) {
  Matrix matrix(groups.size(), std::vector<double>(groups.size(), 0));
  for (std::size_t i = 0; i + 1 < groups.size(); ++i) {
    for (std::size_t j = i + 1; j < groups.size(); ++j) {
      double w = 0;
      for (const Group& k : groups[i].elements) {
        for (const Group& z : groups[j].elements) w += comm[k.id][z.id];
      }
      matrix[i][j] = matrix[j][i] = w;
    }
  }
  return matrix;
}

/// Algorithm 5.
inline void map_groups_to_topology(const MachineTree& tree, const MachineTree::Part& object, const Group& group,
                                   std::vector<Core>& map) {
  if (object.is_core()) {
    for (const Group& task : group.elements) map[task.id] = Core{object.begin};
    return;
  }
  const auto linked = tree.children(object);
  for (std::size_t i = 0; i < group.elements.size(); ++i) {
    map_groups_to_topology(tree, linked.at(i), group.elements[i], map);
  }
}

/// Algorithm 1 on a symmetric part: core numbers in `map` by task of this call.
inline std::vector<Core> map_algorithm(const Matrix& comm_init, const std::vector<double>& loads,
                                       const MachineTree& tree, const MachineTree::Part& root,
                                       const Capacities& capacities) {
  std::vector<std::uint64_t> exec_el_in_level, width;  // bottom up
  for (MachineTree::Part at = root; !at.is_core(); at = tree.children(at).front()) {
    const std::uint64_t children = tree.children(at).size();
    exec_el_in_level.insert(exec_el_in_level.begin(),
                            children * (exec_el_in_level.empty() ? 1 : exec_el_in_level.front()));
    width.insert(width.begin(), children);
  }
  std::vector<Group> groups(comm_init.size());
  for (std::uint32_t i = 0; i < groups.size(); ++i) {
    groups[i].id = i;
    groups[i].load = loads.empty() ? 0 : loads[i];
  }
  Matrix comm = comm_init;
  for (std::size_t level = 0; level < exec_el_in_level.size(); ++level) {
    const std::uint64_t max_size = level == 0 ? capacities[Core{root.begin}] : width[level - 1];
    groups = loads.empty() ? generate_groups_for_level(comm, groups, exec_el_in_level[level])
                           : lb_generate_groups_for_level(comm, groups, exec_el_in_level[level], max_size);
    comm = recreate_matrix(comm, groups);
  }
  Group root_group;
  root_group.elements = groups;
  std::vector<Core> map(comm_init.size());
  map_groups_to_topology(tree, root, root_group, map);
  return map;
}

/// Section 3.6: the tasks of a part that is not a symmetric tree are divided over its children in proportion to their
/// processing units.
inline std::vector<Core> map_any(const Matrix& comm, const std::vector<double>& loads, const MachineTree& tree,
                                 const MachineTree::Part& part, const Capacities& capacities) {
  const Topology& topology = tree.topology();
  const bool is_tree =
      part.is_core() || (!topology.is_matrix() && !(topology.routed() && part.next_level <= topology.node_level()));
  if (comm.empty()) return {};
  if (is_tree && tree.symmetric(part)) return map_algorithm(comm, loads, tree, part, capacities);

  const auto machines = tree.children(part);
  const std::size_t n = comm.size();
  std::vector<std::uint64_t> units, max_tasks;
  std::uint64_t units_left = 0, capacity_left = 0;
  for (const auto& machine : machines) {
    std::uint64_t usable = 0;
    for (std::uint32_t core = machine.begin; core < machine.end; ++core) usable += capacities[Core{core}] > 0 ? 1 : 0;
    units.push_back(usable);
    max_tasks.push_back(std::min<std::uint64_t>(n, tree.slots(machine)));
    units_left += usable;
    capacity_left += max_tasks.back();
  }
  // A machine whose proportional share exceeds its capacity is filled; the others share the rest by largest remainders.
  std::vector<std::uint64_t> sizes(machines.size(), 0);
  if (loads.empty()) {
    std::vector<bool> full(machines.size(), false);
    std::uint64_t rest = n, units_open = units_left;
    for (bool filled = true; filled;) {
      filled = false;
      const std::uint64_t rest_before = rest, open_before = units_open;
      for (std::size_t m = 0; m < machines.size(); ++m) {
        if (full[m] || rest_before * units[m] <= max_tasks[m] * open_before) continue;
        full[m] = filled = true;
        sizes[m] = max_tasks[m];
        rest -= max_tasks[m];
        units_open -= units[m];
      }
    }
    std::uint64_t given = 0;
    for (std::size_t m = 0; m < machines.size(); ++m) {
      if (!full[m] && units[m] > 0) given += sizes[m] = rest * units[m] / units_open;
    }
    for (std::vector<bool> more(machines.size(), false); given < rest; ++given) {
      std::size_t best = machines.size();
      for (std::size_t m = 0; m < machines.size(); ++m) {
        if (full[m] || more[m] || units[m] == 0) continue;
        if (best == machines.size() || rest * units[m] % units_open > rest * units[best] % units_open) best = m;
      }
      more.at(best) = true;
      ++sizes[best];
    }
  }
  std::vector<Group> tasks(n);
  double total_load = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    tasks[i].id = i;
    tasks[i].load = loads.empty() ? 0 : loads[i];
    total_load += tasks[i].load;
  }
  std::vector<bool> chosen(n, false);
  std::vector<Core> map(n);
  std::uint64_t left = n;
  for (std::size_t m = 0; m < machines.size(); ++m) {
    if (units[m] == 0) continue;
    Group group;
    if (loads.empty()) {
      group = generate_group(comm, sizes[m], chosen, tasks);
    } else {
      const bool loaded = load_is_left(chosen, tasks);
      const double part_of_load = static_cast<double>(units[m]) / static_cast<double>(units_left);
      capacity_left -= max_tasks[m];
      std::uint64_t min_size = loaded ? 0 : std::min((left * units[m] + units_left - 1) / units_left, max_tasks[m]);
      if (left > capacity_left) min_size = std::max(min_size, left - capacity_left);
      group = lb_generate_group(comm, chosen, tasks, loaded ? total_load * part_of_load : 0, min_size,
                                std::min(left, max_tasks[m]));
      total_load -= group.load;
      units_left -= units[m];
    }
    left -= group.elements.size();
    Matrix inside;
    std::vector<double> inside_loads;
    for (const Group& a : group.elements) {
      auto& row = inside.emplace_back();
      for (const Group& b : group.elements) row.push_back(comm[a.id][b.id]);
      if (!loads.empty()) inside_loads.push_back(a.load);
    }
    const auto below = map_any(inside, inside_loads, tree, machines[m], capacities);
    for (std::size_t at = 0; at < below.size(); ++at) map[group.elements[at].id] = below[at];
  }
  return map;
}

inline std::vector<Core> eager(const CommGraph& graph, const Topology& topology, const Capacities& capacities,
                               bool by_load) {
  const MachineTree tree(topology, capacities);
  std::vector<double> loads;
  if (by_load) loads.assign(graph.loads().begin(), graph.loads().end());
  return map_any(comm_matrix(graph), loads, tree, tree.root(), capacities);
}

}  // namespace rankloom::testing::paper
