// SPDX-License-Identifier: Apache-2.0
// map/treematch: GroupProcesses, one level of TreeMatch (Jeannot, Mercier, Tessier 2014, Algorithm 2): groups elements
// so that the traffic between groups is small.
#pragma once

#include <cstdint>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// The order in which candidate groups are chosen; the first of equals.
enum class GroupOrder : std::uint8_t {
  external,  ///< The smallest traffic to the outside first (the paper's order).
  internal,  ///< The largest traffic inside first.
  ratio,     ///< The smallest ratio of outside to inside traffic first.
  scarce,    ///< As internal; among equals, the group whose members belong to the fewest other candidates first.
};

struct GroupingRequest {
  std::uint32_t size = 2;         ///< Members of a full group.
  std::uint32_t groups = 1;       ///< The most groups; groups x size is at least the number of elements.
  std::uint32_t full_groups = 1;  ///< The number of groups that may be full; the others have at least one member less.
  bool prefer_connected = false;  ///< Make another group rather than group elements without traffic between them.
  GroupOrder order = GroupOrder::external;
  std::uint64_t candidates = 100'000;  ///< The most candidate groups that are listed at a time.
};

/// GroupProcesses: lists candidate groups, chooses them one by one in the given order, each if all its members are
/// free, and distributes the remaining elements. The paper's dummy tasks, which have no traffic, are missing members
/// here; groups of dummies alone are left out.
///
/// Departures from the paper: up to `max_optimal_size` elements get an optimal grouping. Candidates are only connected
/// groups, because the distribution of the remaining elements treats unconnected ones at least as well. If there are
/// too many candidates to list (the paper lists all below a limit), one is grown from each element by adding the
/// element with the most traffic to the group. Groups of more than `max_listed_size` members are grown one after
/// another, in O(edges log edges).
Groups group_processes(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition);
inline constexpr std::uint32_t max_listed_size = 7;
inline constexpr std::uint32_t max_optimal_size = 10;

/// The grouping with the largest traffic inside groups, of at most `max_groups` groups with at most `size` elements;
/// among equals the one with fewer groups, then the one whose groups have lower members. Dynamic programming over
/// subsets: O(3^elements).
Groups optimal_grouping(const Affinity& affinity, std::uint32_t size, std::uint32_t max_groups);

}  // namespace rankloom
