// SPDX-License-Identifier: Apache-2.0
// map/treematch: the ranks grouped level by level, from the ranks up.
#pragma once

#include <cstdint>
#include <vector>

#include "rankloom/map/treematch/group_processes.hpp"

namespace rankloom {

/// One of several ways to group; the best is kept.
struct GroupTry {
  GroupOrder order;
  bool loose;
};

/// Elements are ranks at first; each step makes groups of them, which are the elements of the next. Each member of a
/// group has a *seat* in it; from the seats of all its groups follows where a rank sits in the regular tree that they
/// make up. When the time is up, groups are consecutive elements.
class GroupTree {
 public:
  struct Level {
    Groups groups;        ///< Of the elements of the level below.
    std::uint32_t width;  ///< The most members of one.
  };

  GroupTree(const CommGraph& graph, const GroupTry& how, std::uint64_t candidates, StopCondition& stop_condition)
      : how_(how), candidates_(candidates), stop_condition_(stop_condition), top_(graph) {}

  std::uint32_t size() const { return top_.size(); }
  /// From the ranks up.
  const std::vector<Level>& levels() const { return levels_; }

  /// The elements become members of groups of at most `width`: as few groups as hold them, or, when loose, up to
  /// `most`.
  void group(std::uint32_t width, std::uint64_t most);
  /// The same into so many groups, whose sizes differ by at most one.
  void share(std::uint32_t groups);
  /// Where each rank sits, counted in ranks, when every level is as wide as was asked for.
  std::vector<std::uint64_t> seats() const;

 private:
  void add(std::uint32_t width, std::uint32_t groups, std::uint32_t full);
  Groups in_order(std::uint32_t groups) const;

  GroupTry how_;
  std::uint64_t candidates_;
  StopCondition& stop_condition_;
  Affinity top_;
  std::vector<Level> levels_;
  std::uint64_t width_ = 1;  // ranks that one element stands for
};

}  // namespace rankloom
