// SPDX-License-Identifier: Apache-2.0
// map/treematch: TreeMatch's tree of groups, built level by level from the ranks up (Jeannot, Mercier, Tessier 2014,
// Algorithm 1: GroupProcesses and AggregateComMatrix).
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/treematch/group_processes.hpp"

namespace rankloom {

/// One of several variants of the grouping; the mapper keeps the best result.
struct GroupingVariant {
  GroupOrder order;
  bool prefer_connected;
};

/// The elements are the ranks at first. Each step groups them, and the groups are the elements of the next step. The
/// members of a group are ordered, so the groups of all levels define the slot of each rank in the regular tree that
/// they form. After the deadline, groups consist of consecutive elements.
class GroupTree {
 public:
  struct Level {
    Groups groups;        ///< Of the elements of the level below.
    std::uint32_t arity;  ///< The most members of a group.
  };

  GroupTree(const CommGraph& graph, const GroupingVariant& variant, std::uint64_t candidates,
            StopCondition& stop_condition)
      : variant_(variant), candidates_(candidates), stop_condition_(stop_condition), top_(graph) {}

  std::uint32_t size() const { return top_.size(); }
  /// From the ranks up.
  const std::vector<Level>& levels() const { return levels_; }

  /// Groups the elements by at most `arity`: into as few groups as possible, or, with prefer_connected, up to
  /// `max_groups`.
  void group_by_arity(std::uint32_t arity, std::uint64_t max_groups);
  /// Groups the elements into this many groups, whose sizes differ by at most one.
  void group_evenly(std::uint32_t groups);
  /// The slot of each rank in the regular tree whose levels have the requested arities.
  std::vector<std::uint64_t> slots() const;

 private:
  void add_level(std::uint32_t arity, std::uint32_t groups, std::uint32_t full_groups);
  Groups consecutive_groups(std::uint32_t groups) const;

  GroupingVariant variant_;
  std::uint64_t candidates_;
  StopCondition& stop_condition_;
  Affinity top_;
  std::vector<Level> levels_;
  std::uint64_t ranks_per_element_ = 1;  // slots of the regular tree below one element
};

}  // namespace rankloom
