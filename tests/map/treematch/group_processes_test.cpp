// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/treematch/group_processes.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "rankloom/map/treematch/candidate_groups.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

constexpr GroupOrder all_orders[] = {GroupOrder::external, GroupOrder::internal, GroupOrder::ratio, GroupOrder::scarce};

double traffic_inside(const Affinity& affinity, const Groups& groups) {
  double sum = 0;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t a : groups[group]) {
      for (const std::uint32_t b : groups[group]) {
        const auto neighbours = affinity.neighbours(a);
        const auto position = std::find(neighbours.begin(), neighbours.end(), b);
        if (a >= b || position == neighbours.end()) continue;
        sum += affinity.weights(a)[static_cast<std::size_t>(position - neighbours.begin())];
      }
    }
  }
  return sum;
}

void expect_partition(const Groups& groups, std::uint32_t elements) {
  std::vector<std::uint32_t> members(groups.members);
  std::sort(members.begin(), members.end());
  ASSERT_EQ(members.size(), elements);
  for (std::uint32_t element = 0; element < elements; ++element) ASSERT_EQ(members[element], element);
}

Groups group(const Affinity& affinity, std::uint32_t size, std::uint32_t groups, GroupOrder order,
             std::uint64_t candidates = 100'000) {
  MapRun run;
  StopCondition stop_condition(run, "test");
  return group_processes(
      affinity, {.size = size, .groups = groups, .full_groups = groups, .order = order, .candidates = candidates},
      stop_condition);
}

/// The largest traffic inside groups, by trying every group for every element.
double brute_force(const Affinity& affinity, std::uint32_t size, std::uint32_t groups) {
  std::vector<std::uint32_t> group_of(affinity.size()), filled(groups, 0);
  double best = -1;
  const std::function<void(std::uint32_t, double)> place = [&](std::uint32_t element, double sum) {
    if (element == affinity.size()) {
      best = std::max(best, sum);
      return;
    }
    for (std::uint32_t at = 0; at < groups; ++at) {
      if (filled[at] == size) continue;
      double more = 0;
      for (std::size_t edge = 0; edge < affinity.degree(element); ++edge) {
        const std::uint32_t other = affinity.neighbours(element)[edge];
        if (other < element && group_of[other] == at) more += affinity.weights(element)[edge];
      }
      ++filled[at];
      group_of[element] = at;
      place(element + 1, sum + more);
      --filled[at];
      if (filled[at] == 0) break;  // all empty groups are equivalent
    }
  };
  place(0, 0);
  return best;
}

TEST(OptimalGrouping, EqualsBruteForce) {
  for (const std::uint32_t elements : {1, 2, 5, 7, 8}) {
    for (const std::uint32_t size : {1, 2, 3, 4}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        const Affinity affinity(testing::random_graph(elements, 0.6, seed));
        const std::uint32_t groups = (elements + size - 1) / size;
        const Groups grouping = optimal_grouping(affinity, size, groups);
        expect_partition(grouping, elements);
        EXPECT_LE(grouping.size(), groups);
        for (std::uint32_t at = 0; at < grouping.size(); ++at) EXPECT_LE(grouping[at].size(), size);
        EXPECT_DOUBLE_EQ(traffic_inside(affinity, grouping), brute_force(affinity, size, groups));
      }
    }
  }
}

TEST(OptimalGrouping, UsesFewGroupsForElementsWithoutTraffic) {
  const Affinity without_traffic(std::move(CommGraphBuilder(5)).build(false));
  const Groups grouping = optimal_grouping(without_traffic, 4, 3);
  expect_partition(grouping, 5);
  EXPECT_EQ(grouping.size(), 2U);
}

TEST(ListCandidates, ListsEveryConnectedGroupOnce) {
  const Affinity affinity(testing::random_graph(12, 0.15, 5));
  const std::vector<bool> is_free(12, true);
  for (const std::uint32_t size : {2, 3, 4}) {
    const auto listed = list_candidates(affinity, is_free, size, 100'000);
    ASSERT_TRUE(listed);
    // Every subset as a bit set; it is connected if all elements can be reached from the lowest one.
    std::uint32_t expected = 0;
    for (std::uint32_t set = 0; set < (1U << 12); ++set) {
      if (static_cast<std::uint32_t>(std::popcount(set)) != size) continue;
      std::uint32_t reached = set & -set;
      for (std::uint32_t step = 0; step < size; ++step) {
        for (std::uint32_t element = 0; element < 12; ++element) {
          if (((reached >> element) & 1) == 0) continue;
          for (const std::uint32_t next : affinity.neighbours(element)) reached |= (1U << next) & set;
        }
      }
      expected += reached == set ? 1 : 0;
    }
    EXPECT_EQ(listed->count(), expected);
    std::set<std::vector<std::uint32_t>> distinct;
    for (std::uint32_t at = 0; at < listed->count(); ++at) {
      std::vector<std::uint32_t> members((*listed)[at].begin(), (*listed)[at].end());
      std::sort(members.begin(), members.end());
      distinct.insert(members);
    }
    EXPECT_EQ(distinct.size(), expected);
  }
  EXPECT_FALSE(list_candidates(affinity, is_free, 3, 1));
}

TEST(GrowCandidates, GrowOneGroupFromEachFreeElement) {
  const Affinity affinity(testing::random_graph(14, 0.3, 9));
  std::vector<bool> is_free(14, true);
  is_free[3] = false;
  const auto between = [&](std::uint32_t a, std::uint32_t b) {
    const auto neighbours = affinity.neighbours(a);
    const auto position = std::find(neighbours.begin(), neighbours.end(), b);
    return position == neighbours.end() ? 0.0
                                        : affinity.weights(a)[static_cast<std::size_t>(position - neighbours.begin())];
  };
  const CandidateGroups candidates = grow_candidates(affinity, is_free, 3);
  ASSERT_GT(candidates.count(), 0U);
  EXPECT_LE(candidates.count(), 13U);
  for (std::uint32_t at = 0; at < candidates.count(); ++at) {
    double inside = 0, outside = 0;
    for (const std::uint32_t member : candidates[at]) {
      EXPECT_TRUE(is_free[member]);
      for (std::uint32_t other = 0; other < affinity.size(); ++other) {
        const auto members = candidates[at];
        const bool is_member = std::find(members.begin(), members.end(), other) != members.end();
        (is_member ? inside : outside) += between(member, other);
      }
    }
    EXPECT_DOUBLE_EQ(candidates.inside(at), inside / 2);
    EXPECT_NEAR(candidates.outside(at), outside, 1e-9 * outside);
  }
}

TEST(GroupProcesses, FindsPlantedGroupsOfAnySizeInEveryOrder) {
  for (const std::uint32_t size : {2, 3, 4, 5, 7, 11, 40}) {
    for (const GroupOrder order : all_orders) {
      for (const std::uint64_t candidates : {100'000, 2}) {  // all groups are listed, or one is grown from each rank
        const Affinity affinity(testing::shuffled_groups(6, size, size));
        const Groups grouping = group(affinity, size, 6, order, candidates);
        expect_partition(grouping, 6 * size);
        EXPECT_DOUBLE_EQ(traffic_inside(affinity, grouping), 6.0 * size * (size - 1) * 1000);
      }
    }
  }
}

TEST(GroupProcesses, IsValidAndCloseToTheOptimumOnRandomGraphs) {
  double sum = 0, best = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Affinity affinity(testing::random_graph(11, 0.4, seed));
    for (const GroupOrder order : all_orders) {
      const Groups grouping = group(affinity, 3, 4, order);
      expect_partition(grouping, 11);
      for (std::uint32_t at = 0; at < grouping.size(); ++at) EXPECT_LE(grouping[at].size(), 3U);
      sum += traffic_inside(affinity, grouping);
      best += brute_force(affinity, 3, 4);
      EXPECT_LE(traffic_inside(affinity, grouping), brute_force(affinity, 3, 4) + 1e-9);
    }
  }
  EXPECT_GT(sum, 0.85 * best);
}

TEST(GroupProcesses, KeepsFragmentsTogetherWhenItDistributesThem) {
  // Seven pairs into groups of three: at most two of the pairs must be separated.
  const Affinity affinity(testing::shuffled_groups(7, 2, 1));
  const Groups grouping = group(affinity, 3, 5, GroupOrder::external);
  expect_partition(grouping, 14);
  EXPECT_GE(traffic_inside(affinity, grouping), 5 * 2 * 1000.0);
}

TEST(GroupProcesses, GivesFragmentsSeparateGroupsIfConnectedGroupsArePreferred) {
  // Triangles in groups of two: a pair and a single element each; the single elements do not communicate.
  const Affinity affinity(testing::shuffled_groups(8, 3, 1));
  MapRun run;
  StopCondition stop_condition(run, "test");
  for (const bool prefer_connected : {false, true}) {
    const Groups grouping = group_processes(
        affinity, {.size = 2, .groups = 16, .full_groups = 16, .prefer_connected = prefer_connected}, stop_condition);
    expect_partition(grouping, 24);
    EXPECT_EQ(grouping.size(), prefer_connected ? 16U : 12U);
    EXPECT_DOUBLE_EQ(traffic_inside(affinity, grouping), 8 * 2000.0);
  }
}

TEST(GroupProcesses, MakesGroupsWhoseSizesDifferByOneIfRequested) {
  for (const std::uint32_t elements : {13, 23, 41}) {
    const Affinity affinity(testing::random_graph(elements, 0.2, 3));
    const std::uint32_t groups = 4, size = (elements + groups - 1) / groups;
    MapRun run;
    StopCondition stop_condition(run, "test");
    for (const GroupOrder order : all_orders) {
      const Groups grouping = group_processes(
          affinity, {.size = size, .groups = groups, .full_groups = elements - groups * (size - 1), .order = order},
          stop_condition);
      expect_partition(grouping, elements);
      for (std::uint32_t at = 0; at < groups; ++at) EXPECT_GE(grouping[at].size() + 1, size);
    }
  }
}

}  // namespace
}  // namespace rankloom
