// SPDX-License-Identifier: Apache-2.0
// map/treematch: the tree of groups, built level by level.
#include "rankloom/map/treematch/group_tree.hpp"

#include <algorithm>

namespace rankloom {

void GroupTree::group_by_arity(std::uint32_t arity, std::uint64_t max_groups) {
  const std::uint64_t needed = (std::uint64_t{size()} + arity - 1) / arity;
  const auto groups =
      static_cast<std::uint32_t>(variant_.prefer_connected ? std::min<std::uint64_t>(max_groups, size()) : needed);
  add_level(arity, groups, groups);
}

void GroupTree::group_evenly(std::uint32_t groups) {
  const std::uint32_t arity = (size() + groups - 1) / groups;
  add_level(arity, groups, size() - groups * (arity - 1));
}

void GroupTree::add_level(std::uint32_t arity, std::uint32_t groups, std::uint32_t full_groups) {
  Groups level;
  if (stop_condition_.should_stop_now() || groups == 1) {
    level = consecutive_groups(groups);
  } else {
    level = group_processes(top_,
                            {.size = arity,
                             .groups = groups,
                             .full_groups = full_groups,
                             .prefer_connected = variant_.prefer_connected,
                             .order = variant_.order,
                             .candidates = candidates_},
                            stop_condition_);
  }
  top_ = top_.contract(level);  // AggregateComMatrix
  levels_.push_back({std::move(level), arity});
  ranks_per_element_ *= arity;
}

Groups GroupTree::consecutive_groups(std::uint32_t groups) const {
  Groups level;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const auto end = static_cast<std::uint32_t>(std::uint64_t{size()} * (group + 1) / groups);
    while (level.members.size() < end) level.members.push_back(static_cast<std::uint32_t>(level.members.size()));
    level.close();
  }
  return level;
}

std::vector<std::uint64_t> GroupTree::slots() const {
  std::vector<std::uint64_t> first_slot(size());
  std::uint64_t slots_per_element = ranks_per_element_;
  for (std::uint32_t element = 0; element < size(); ++element) first_slot[element] = element * slots_per_element;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const Groups& groups = levels_[level].groups;
    slots_per_element /= levels_[level].arity;
    std::vector<std::uint64_t> below(groups.members.size());
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
      std::uint64_t next = first_slot[group];
      for (const std::uint32_t member : groups[group]) {
        below[member] = next;
        next += slots_per_element;
      }
    }
    first_slot = std::move(below);
  }
  return first_slot;
}

}  // namespace rankloom
