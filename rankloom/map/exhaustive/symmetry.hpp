// SPDX-License-Identifier: Apache-2.0
// map/exhaustive: symmetries of the machine and of the program, so that a search visits only one of several equivalent
// placements.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "rankloom/map/exhaustive/dense_qap.hpp"
#include "rankloom/model/machine/topology.hpp"

namespace rankloom {

/// Two objects of one level are symmetric when exchanging them, core by core, does not change the cost of any
/// placement. While both are empty, it suffices to try the first: an empty node represents all symmetric empty nodes,
/// an empty core the other empty cores of its node.
class MachineSymmetry {
 public:
  /// same_core(p, q): the two cores have equal capacities. same_pair(p, q, r, s): the pairs (p, q) and (r, s) have the
  /// same distance. Objects of levels above `highest` are treated as different. O(levels x cores²) on regular machines.
  MachineSymmetry(const Topology& topology, std::size_t highest, const std::function<bool(Core, Core)>& same_core,
                  const std::function<bool(Core, Core, Core, Core)>& same_pair);

  /// No two objects are symmetric.
  bool trivial() const { return levels_.empty(); }
  /// Marks the cores to try, given the number of ranks on each core. The caller must skip cores without a free slot.
  void representatives(const std::vector<std::uint32_t>& occupants, std::vector<bool>& is_representative) const;

 private:
  struct Level {
    std::vector<std::uint32_t> object_of;  // by core
    std::vector<std::uint32_t> class_of;   // by object
    std::uint32_t classes = 0;
  };
  std::vector<Level> levels_;  // only levels with symmetric objects
};

/// Two tasks are interchangeable when exchanging them does not change the traffic. Once a search has explored all
/// placements with task t on core p, it need not place a task there that is interchangeable with t while t is on
/// another core: exchanging the two tasks gives a placement that has been explored. This is compatible with
/// MachineSymmetry: both skip only placements that are equivalent to an earlier one.
class TaskSymmetry {
 public:
  explicit TaskSymmetry(const DenseQap& problem);

  /// Every placement with the task on this core is equivalent to one that has been explored.
  bool is_redundant(std::uint32_t task, std::uint32_t core) const {
    return !explored_.empty() && explored_[task * cores_ + core] > 0;
  }
  /// All placements with the task on the core have been explored. Valid until unmark_explored(), which is called when
  /// the search leaves the partial placement in which this holds.
  void mark_explored(std::uint32_t task, std::uint32_t core) { count(task, core, 1); }
  void unmark_explored(std::uint32_t task, std::uint32_t core) { count(task, core, -1); }

 private:
  void count(std::uint32_t task, std::uint32_t core, int step);

  std::uint32_t cores_;
  std::vector<std::vector<std::uint32_t>> interchangeable_with_;  // by task
  std::vector<int> explored_;  // by task and core: how often marked; empty when no tasks are interchangeable
};

}  // namespace rankloom
