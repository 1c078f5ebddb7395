// SPDX-License-Identifier: Apache-2.0
// map/treematch: one step of TreeMatch: elements into groups so that little is said between groups.
#pragma once

#include <cstdint>

#include "rankloom/map/affinity.hpp"
#include "rankloom/map/stop_condition.hpp"

namespace rankloom {

/// Which of the candidate groups is taken next; the first of equals.
enum class GroupOrder : std::uint8_t {
  external,  ///< The one that says least to the outside (the paper's order).
  internal,  ///< The one that says most inside.
  ratio,     ///< The one that says least to the outside for what it says inside.
  scarce,    ///< As internal; among equals the one with the fewest rivals for its members.
};

struct GroupingRequest {
  std::uint32_t size = 2;    ///< Members of a full group.
  std::uint32_t groups = 1;  ///< At most so many groups; groups x size is at least the number of elements.
  std::uint32_t full = 1;    ///< So many of them may be full; the others hold at least one element less.
  bool loose = false;        ///< Rather make a group more than join elements that have nothing to say to each other.
  GroupOrder order = GroupOrder::external;
  std::uint64_t candidates = 100'000;  ///< The most candidate groups that are listed at a time.
};

/// TreeMatch's GroupProcesses (Jeannot, Mercier, Tessier 2014, Algorithm 2): lists candidate groups, takes them one by
/// one in the given order, each if none of its members has been taken, and fills up with the rest. Dummy tasks, which
/// say nothing, are simply missing members; groups of dummies alone are left out.
///
/// Departures: up to 10 elements are grouped at the least possible traffic. Candidates are only groups whose members
/// hang together by traffic: no others can be better than what the filling does with them. Where there are too many to
/// list (the paper lists all below a limit), the candidates are those that grow from each element by adding who talks
/// most to it; groups of more than `max_listed_size` members are grown one after another. O(edges log edges) then.
Groups group_by_affinity(const Affinity& affinity, const GroupingRequest& request, StopCondition& stop_condition);
inline constexpr std::uint32_t max_listed_size = 7;

}  // namespace rankloom
