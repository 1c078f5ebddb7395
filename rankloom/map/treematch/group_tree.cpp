// SPDX-License-Identifier: Apache-2.0
// map/treematch: the ranks grouped level by level.
#include "rankloom/map/treematch/group_tree.hpp"

#include <algorithm>

namespace rankloom {

void GroupTree::group(std::uint32_t width, std::uint64_t most) {
  const std::uint64_t least = (std::uint64_t{size()} + width - 1) / width;
  const auto groups = static_cast<std::uint32_t>(how_.loose ? std::min<std::uint64_t>(most, size()) : least);
  add(width, groups, groups);
}

void GroupTree::share(std::uint32_t groups) {
  const std::uint32_t width = (size() + groups - 1) / groups;
  add(width, groups, size() - groups * (width - 1));
}

void GroupTree::add(std::uint32_t width, std::uint32_t groups, std::uint32_t full) {
  Groups made;
  if (stop_condition_.should_stop_now() || groups == 1) {
    made = in_order(groups);
  } else {
    made = group_by_affinity(top_,
                             {.size = width,
                              .groups = groups,
                              .full = full,
                              .loose = how_.loose,
                              .order = how_.order,
                              .candidates = candidates_},
                             stop_condition_);
  }
  top_ = top_.contract(made);
  levels_.push_back({std::move(made), width});
  width_ *= width;
}

Groups GroupTree::in_order(std::uint32_t groups) const {
  Groups made;
  for (std::uint32_t group = 0; group < groups; ++group) {
    const auto end = static_cast<std::uint32_t>(std::uint64_t{size()} * (group + 1) / groups);
    while (made.members.size() < end) made.members.push_back(static_cast<std::uint32_t>(made.members.size()));
    made.close();
  }
  return made;
}

std::vector<std::uint64_t> GroupTree::seats() const {
  std::vector<std::uint64_t> seat(size());
  std::uint64_t width = width_;
  for (std::uint32_t element = 0; element < size(); ++element) seat[element] = element * width;
  for (std::size_t level = levels_.size(); level-- > 0;) {
    const Groups& groups = levels_[level].groups;
    width /= levels_[level].width;
    std::vector<std::uint64_t> below(groups.members.size());
    for (std::uint32_t group = 0; group < groups.size(); ++group) {
      std::uint64_t next = seat[group];
      for (const std::uint32_t member : groups[group]) {
        below[member] = next;
        next += width;
      }
    }
    seat = std::move(below);
  }
  return seat;
}

}  // namespace rankloom
