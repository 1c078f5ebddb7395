// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/treematch/group_processes.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "rankloom/map/treematch/best_grouping.hpp"
#include "rankloom/map/treematch/candidate_groups.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

constexpr GroupOrder all_orders[] = {GroupOrder::external, GroupOrder::internal, GroupOrder::ratio, GroupOrder::scarce};

double inside(const Affinity& affinity, const Groups& groups) {
  double sum = 0;
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    for (const std::uint32_t a : groups[group]) {
      for (const std::uint32_t b : groups[group]) {
        const auto near = affinity.neighbours(a);
        const auto found = std::find(near.begin(), near.end(), b);
        if (a < b && found != near.end()) sum += affinity.weights(a)[static_cast<std::size_t>(found - near.begin())];
      }
    }
  }
  return sum;
}

void expect_partition(const Groups& groups, std::uint32_t elements) {
  std::vector<std::uint32_t> seen(groups.members);
  std::sort(seen.begin(), seen.end());
  ASSERT_EQ(seen.size(), elements);
  for (std::uint32_t element = 0; element < elements; ++element) ASSERT_EQ(seen[element], element);
}

Groups group(const Affinity& affinity, std::uint32_t size, std::uint32_t groups, GroupOrder order,
             std::uint64_t candidates = 100'000) {
  MapRun run;
  StopCondition stop_condition(run, "test");
  return group_by_affinity(
      affinity, {.size = size, .groups = groups, .full = groups, .order = order, .candidates = candidates}, stop_condition);
}

/// The most that can be said inside, by trying every group for every element in turn.
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
      if (filled[at] == 0) break;  // empty groups are all alike
    }
  };
  place(0, 0);
  return best;
}

TEST(BestGrouping, EqualsBruteForce) {
  for (const std::uint32_t elements : {1, 2, 5, 7, 8}) {
    for (const std::uint32_t size : {1, 2, 3, 4}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        const Affinity affinity(testing::random_graph(elements, 0.6, seed));
        const std::uint32_t groups = (elements + size - 1) / size;
        const Groups found = best_grouping(affinity, size, groups);
        expect_partition(found, elements);
        EXPECT_LE(found.size(), groups);
        for (std::uint32_t at = 0; at < found.size(); ++at) EXPECT_LE(found[at].size(), size);
        EXPECT_DOUBLE_EQ(inside(affinity, found), brute_force(affinity, size, groups));
      }
    }
  }
}

TEST(BestGrouping, PacksIntoFewGroupsWhatSaysNothing) {
  const Affinity silent(std::move(CommGraphBuilder(5)).build(false));
  const Groups found = best_grouping(silent, 4, 3);
  expect_partition(found, 5);
  EXPECT_EQ(found.size(), 2U);
}

TEST(Candidates, AreAllConnectedGroupsOnce) {
  const Affinity affinity(testing::random_graph(12, 0.15, 5));
  const std::vector<bool> is_free(12, true);
  for (const std::uint32_t size : {2, 3, 4}) {
    const auto listed = list_candidates(affinity, is_free, size, 100'000);
    ASSERT_TRUE(listed);
    // Every subset by its bits; connected if it can be reached from its lowest element.
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

TEST(Grouping, FindsPlantedGroupsOfAnySizeInEveryOrder) {
  for (const std::uint32_t size : {2, 3, 4, 5, 7, 11, 40}) {
    for (const GroupOrder order : all_orders) {
      for (const std::uint64_t candidates : {100'000, 10}) {
        const Affinity affinity(testing::shuffled_groups(6, size, size));
        const Groups found = group(affinity, size, 6, order, candidates);
        expect_partition(found, 6 * size);
        EXPECT_DOUBLE_EQ(inside(affinity, found), 6.0 * size * (size - 1) * 1000);
      }
    }
  }
}

TEST(Grouping, IsValidAndNearTheBestOnRandomGraphs) {
  double sum = 0, best = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
    const Affinity affinity(testing::random_graph(11, 0.4, seed));
    for (const GroupOrder order : all_orders) {
      const Groups found = group(affinity, 3, 4, order);
      expect_partition(found, 11);
      for (std::uint32_t at = 0; at < found.size(); ++at) EXPECT_LE(found[at].size(), 3U);
      sum += inside(affinity, found);
      best += brute_force(affinity, 3, 4);
      EXPECT_LE(inside(affinity, found), brute_force(affinity, 3, 4) + 1e-9);
    }
  }
  EXPECT_GT(sum, 0.85 * best);
}

TEST(Grouping, KeepsFragmentsTogetherWhenItFillsUp) {
  // Seven pairs into groups of three: five groups, and only pairs that must are parted.
  const Affinity affinity(testing::shuffled_groups(7, 2, 1));
  const Groups found = group(affinity, 3, 5, GroupOrder::external);
  expect_partition(found, 14);
  EXPECT_GE(inside(affinity, found), 5 * 2 * 1000.0);
}

TEST(Grouping, LeavesFragmentsAloneWhenLooseAndThereAreGroupsEnough) {
  // Triangles in groups of two: a pair and a single each; the singles have nothing to say to each other.
  const Affinity affinity(testing::shuffled_groups(8, 3, 1));
  MapRun run;
  StopCondition stop_condition(run, "test");
  for (const bool loose : {false, true}) {
    const Groups found = group_by_affinity(affinity, {.size = 2, .groups = 16, .full = 16, .loose = loose}, stop_condition);
    expect_partition(found, 24);
    EXPECT_EQ(found.size(), loose ? 16U : 12U);
    EXPECT_DOUBLE_EQ(inside(affinity, found), 8 * 2000.0);
  }
}

TEST(Grouping, MakesSharesThatDifferByOneWhenAsked) {
  for (const std::uint32_t elements : {13, 23, 41}) {
    const Affinity affinity(testing::random_graph(elements, 0.2, 3));
    const std::uint32_t groups = 4, size = (elements + groups - 1) / groups;
    MapRun run;
    StopCondition stop_condition(run, "test");
    for (const GroupOrder order : all_orders) {
      const Groups found = group_by_affinity(
          affinity, {.size = size, .groups = groups, .full = elements - groups * (size - 1), .order = order}, stop_condition);
      expect_partition(found, elements);
      for (std::uint32_t at = 0; at < groups; ++at) EXPECT_GE(found[at].size() + 1, size);
    }
  }
}

}  // namespace
}  // namespace rankloom
