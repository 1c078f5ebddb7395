// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/schemes.hpp"

#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using testing::make_problem;
using testing::topology;

/// Clusters of these sizes with consecutive ranks.
Groups clusters(const std::vector<std::uint32_t>& sizes) {
  Groups groups;
  for (const std::uint32_t size : sizes) {
    for (std::uint32_t member = 0; member < size; ++member) {
      groups.members.push_back(static_cast<std::uint32_t>(groups.members.size()));
    }
    groups.close();
  }
  return groups;
}

CommGraph without_traffic(std::size_t ranks) {
  return std::move(CommGraphBuilder(static_cast<std::uint32_t>(ranks))).build(false);
}

std::vector<std::uint32_t> placed(const Groups& groups, std::string_view machine, Scheme scheme) {
  const auto problem = make_problem(without_traffic(groups.members.size()), topology(machine));
  std::vector<std::uint32_t> cores;
  for (const Core core : place_clusters(groups, node_slots(problem.view()), scheme)) cores.push_back(index(core));
  return cores;
}

/// The number of clusters that span several nodes.
std::size_t split_clusters(const Groups& groups, const std::vector<std::uint32_t>& cores, std::uint32_t node_size) {
  std::size_t count = 0;
  for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : groups[cluster]) nodes.insert(cores[rank] / node_size);
    count += nodes.size() > 1 ? 1 : 0;
  }
  return count;
}

std::size_t max_nodes_per_cluster(const Groups& groups, const std::vector<std::uint32_t>& cores,
                                  std::uint32_t node_size) {
  std::size_t max_nodes = 0;
  for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : groups[cluster]) nodes.insert(cores[rank] / node_size);
    max_nodes = std::max(max_nodes, nodes.size());
  }
  return max_nodes;
}

// Figure 4, situation (a): the sizes are balanced. First-Fit and Most-Reservation place each cluster on a separate node
// while there are idle nodes, and split the last cluster over the remaining slots. Plain places it on adjacent nodes.
TEST(Figure4, PlainDoesNotScatterClustersOfEqualSize) {
  const Groups groups = clusters({3, 3, 3, 3, 3});
  const char* const machine = "node:4=10 core:4=1";
  const auto plain = placed(groups, machine, Scheme::plain);
  EXPECT_THAT(plain, ElementsAre(0, 1, 2,    //
                                 3, 4, 5,    //
                                 6, 7, 8,    //
                                 9, 10, 11,  //
                                 12, 13, 14));
  const auto first_fit = placed(groups, machine, Scheme::first_fit);
  EXPECT_THAT(first_fit, ElementsAre(0, 1, 2,     // node 0
                                     4, 5, 6,     // node 1
                                     8, 9, 10,    // node 2
                                     12, 13, 14,  // node 3
                                     3, 7, 11));  // remaining slots of 0, 1 and 2
  EXPECT_EQ(placed(groups, machine, Scheme::most_reservation), first_fit);
  EXPECT_EQ(max_nodes_per_cluster(groups, plain, 4), 2U);
  EXPECT_EQ(max_nodes_per_cluster(groups, first_fit, 4), 3U);
}

// Figure 4, situation (b): few large clusters and many tiny ones.
TEST(Figure4, FirstFitDoesNotSplitLargeClustersAmongTinyOnes) {
  const Groups groups = clusters({1, 1, 1, 3, 3, 3});
  const char* const machine = "node:3=10 core:4=1";
  const auto plain = placed(groups, machine, Scheme::plain);
  EXPECT_THAT(plain, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  const auto first_fit = placed(groups, machine, Scheme::first_fit);
  EXPECT_THAT(first_fit, ElementsAre(3, 7, 11,  // the tiny clusters fill the remaining slots
                                     0, 1, 2,   //
                                     4, 5, 6,   //
                                     8, 9, 10));
  const auto most_reservation = placed(groups, machine, Scheme::most_reservation);
  EXPECT_THAT(most_reservation, ElementsAre(0, 1, 2,     //
                                            4, 5, 6,     //
                                            8, 9, 10,    //
                                            3, 7, 11));  // a large cluster, split
  EXPECT_EQ(split_clusters(groups, plain, 4), 2U);
  EXPECT_EQ(split_clusters(groups, first_fit, 4), 0U);
  EXPECT_EQ(split_clusters(groups, most_reservation, 4), 1U);
}

// Figure 4, situation (c): moderately different sizes and many clusters.
TEST(Figure4, MostReservationSplitsFewerClustersOfModeratelyDifferentSizes) {
  const Groups groups = clusters({2, 3, 3, 2, 2, 2});
  const char* const machine = "node:2=10 core:7=1";
  const auto plain = placed(groups, machine, Scheme::plain);
  EXPECT_THAT(plain, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13));
  const auto first_fit = placed(groups, machine, Scheme::first_fit);
  EXPECT_THAT(first_fit, ElementsAre(7, 8,     //
                                     0, 1, 2,  //
                                     3, 4, 5,  //
                                     9, 10,    //
                                     11, 12,   //
                                     6, 13));  // split
  const auto most_reservation = placed(groups, machine, Scheme::most_reservation);
  EXPECT_THAT(most_reservation, ElementsAre(0, 1,     //
                                            2, 3, 4,  //
                                            7, 8, 9,  //
                                            5, 6,     // the remaining slots of node 0
                                            10, 11,   //
                                            12, 13));
  EXPECT_EQ(split_clusters(groups, plain, 7), 1U);
  EXPECT_EQ(split_clusters(groups, first_fit, 7), 1U);
  EXPECT_EQ(split_clusters(groups, most_reservation, 7), 0U);
}

TEST(Adaptive, ChoosesByDeviationAndNumberOfTheClusters) {
  const SchemeOptions options{.scheme = Scheme::adaptive, .low = 0.1, .high = 0.4, .many = 6};
  EXPECT_EQ(choose_scheme(clusters({3, 3, 3, 3, 3}), options), Scheme::plain);
  EXPECT_EQ(choose_scheme(clusters({1, 1, 3, 3, 3}), options), Scheme::first_fit);            // 0.45
  EXPECT_EQ(choose_scheme(clusters({1, 1, 1, 3, 3, 3}), options), Scheme::most_reservation);  // 0.5, but many clusters
  EXPECT_EQ(choose_scheme(clusters({2, 3, 3, 2, 2}), options), Scheme::most_reservation);     // 0.2
  const SchemeOptions forced{.scheme = Scheme::first_fit};
  EXPECT_EQ(choose_scheme(clusters({3, 3}), forced), Scheme::first_fit);
}

TEST(FirstFit, SplitsAClusterOnlyWhenNoNodeCanHoldIt) {
  Random random(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint32_t> sizes;
    std::uint32_t ranks = 0;
    while (true) {
      const auto size = static_cast<std::uint32_t>(1 + random.below(5));
      if (ranks + size > 20) break;
      sizes.push_back(size);
      ranks += size;
    }
    std::sort(sizes.begin(), sizes.end(), std::greater<>());  // the order in which First-Fit places them
    const Groups groups = clusters(sizes);
    const auto cores = placed(groups, "node:4=10 core:5=1", Scheme::first_fit);
    std::vector<std::uint32_t> idle(4, 5);
    for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
      const auto first = std::find_if(idle.begin(), idle.end(), [&](auto free) { return free >= sizes[cluster]; });
      for (const std::uint32_t rank : groups[cluster]) {
        if (first != idle.end()) {
          ASSERT_EQ(cores[rank] / 5, static_cast<std::uint32_t>(first - idle.begin()));
        }
      }
      for (const std::uint32_t rank : groups[cluster]) --idle[cores[rank] / 5];
    }
  }
}

TEST(FirstFit, ContinuesAClusterLargerThanANodeOnTheNextNode) {
  EXPECT_THAT(placed(clusters({3, 5}), "node:3=10 core:4=1", Scheme::first_fit), ElementsAre(5, 6, 7, 0, 1, 2, 3, 4));
}

TEST(FirstFit, ChoosesANodeThatHoldsTheClusterWhenNodesDiffer) {
  EXPECT_THAT(placed(clusters({5, 2}), "node:3=10 core:2+7+4=1", Scheme::first_fit), ElementsAre(2, 3, 4, 5, 6, 0, 1));
}

TEST(MostReservation, MovesAClusterForwardWhenThatLeavesMoreNodesIdle) {
  EXPECT_THAT(placed(clusters({3, 5}), "node:3=10 core:4=1", Scheme::most_reservation),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(MostReservation, DoesNotMoveAClusterForwardOtherwise) {
  EXPECT_THAT(placed(clusters({1, 4}), "node:3=10 core:4=1", Scheme::most_reservation), ElementsAre(0, 4, 5, 6, 7));
}

TEST(MostReservation, WrapsAroundToIdleSlotsOfEarlierNodes) {
  EXPECT_THAT(placed(clusters({1, 5}), "node:2=10 core:4=1", Scheme::most_reservation), ElementsAre(0, 4, 5, 6, 7, 1));
}

TEST(EveryScheme, IsTheBlockPlacementWhenEveryRankIsACluster) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const std::uint32_t ranks : {5U, 30U}) {
      SCOPED_TRACE(name);
      const auto problem = make_problem(without_traffic(ranks), machine, CostModel::bytes, {.oversubscribe = true});
      const Groups singletons = clusters(std::vector<std::uint32_t>(ranks, 1));
      const auto nodes = node_slots(problem.view());
      const auto block = block_placement(ranks, machine, problem.capacities);
      for (const Scheme scheme : {Scheme::plain, Scheme::first_fit, Scheme::most_reservation}) {
        EXPECT_EQ(place_clusters(singletons, nodes, scheme), block);
      }
    }
  }
}

TEST(EveryScheme, GivesValidPlacementsOnEveryMachine) {
  Random random(5);
  for (const auto& [name, machine] : testing::every_machine()) {
    for (int round = 0; round < 20; ++round) {
      SCOPED_TRACE(name);
      const auto ranks = static_cast<std::uint32_t>(1 + random.below(30));
      const auto problem = make_problem(without_traffic(ranks), machine, CostModel::bytes, {.oversubscribe = true});
      std::vector<std::uint32_t> sizes;
      for (std::uint32_t left = ranks; left > 0; left -= sizes.back()) {
        sizes.push_back(static_cast<std::uint32_t>(1 + random.below(std::min(left, 9U))));
      }
      for (const Scheme scheme : {Scheme::plain, Scheme::first_fit, Scheme::most_reservation}) {
        auto core_of = place_clusters(clusters(sizes), node_slots(problem.view()), scheme);
        EXPECT_TRUE(Mapping::create(std::move(core_of), machine, problem.capacities));
      }
    }
  }
}

TEST(NodeSlots, CountTheNodesThatTheRanksNeed) {
  const auto problem = make_problem(without_traffic(4), topology("node:3=10 core:2+7+4=1"));
  const auto nodes = node_slots(problem.view());
  EXPECT_EQ(nodes.node_count(), 3U);
  EXPECT_EQ(nodes.needed_for(0), 0U);
  EXPECT_EQ(nodes.needed_for(7), 1U);
  EXPECT_EQ(nodes.needed_for(8), 2U);
  EXPECT_EQ(nodes.needed_for(13), 3U);
}

TEST(NodeSlots, AreTheChildrenOfTheNodeOnAMachineWithOneNode) {
  const auto problem = make_problem(without_traffic(4), topology("package:2=5 core:4=1"));
  EXPECT_EQ(node_slots(problem.view()).node_count(), 2U);
}

}  // namespace
}  // namespace rankloom
