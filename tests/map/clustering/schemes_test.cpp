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

/// Clusters of these sizes; the ranks are numbered through them.
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

CommGraph silent(std::size_t ranks) {
  return std::move(CommGraphBuilder(static_cast<std::uint32_t>(ranks))).build(false);
}

std::vector<std::uint32_t> placed(const Groups& groups, std::string_view machine, Scheme scheme) {
  const auto problem = make_problem(silent(groups.members.size()), topology(machine));
  std::vector<std::uint32_t> cores;
  for (const Core core : place_clusters(groups, node_places(problem.view()), scheme)) cores.push_back(index(core));
  return cores;
}

/// How many clusters sit on more than one node.
std::size_t torn(const Groups& groups, const std::vector<std::uint32_t>& cores, std::uint32_t node_size) {
  std::size_t count = 0;
  for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : groups[cluster]) nodes.insert(cores[rank] / node_size);
    count += nodes.size() > 1 ? 1 : 0;
  }
  return count;
}

std::size_t most_nodes_of_a_cluster(const Groups& groups, const std::vector<std::uint32_t>& cores,
                                    std::uint32_t node_size) {
  std::size_t most = 0;
  for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
    std::set<std::uint32_t> nodes;
    for (const std::uint32_t rank : groups[cluster]) nodes.insert(cores[rank] / node_size);
    most = std::max(most, nodes.size());
  }
  return most;
}

// Figure 4, situation (a): the sizes are balanced. First-Fit and Most-Reservation give each cluster a node of its own
// as long as there are any, and the last one is torn into the fragments that are left; Plain lays it whole on
// neighbours.
TEST(Figure4, PlainDoesNotScatterAClusterWhenAllAreEqual) {
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
                                     3, 7, 11));  // what is left of 0, 1 and 2
  EXPECT_EQ(placed(groups, machine, Scheme::most_reservation), first_fit);
  EXPECT_EQ(most_nodes_of_a_cluster(groups, plain, 4), 2U);
  EXPECT_EQ(most_nodes_of_a_cluster(groups, first_fit, 4), 3U);
}

// Figure 4, situation (b): few large clusters and many tiny ones.
TEST(Figure4, FirstFitKeepsLargeClustersWholeAmongTinyOnes) {
  const Groups groups = clusters({1, 1, 1, 3, 3, 3});
  const char* const machine = "node:3=10 core:4=1";
  const auto plain = placed(groups, machine, Scheme::plain);
  EXPECT_THAT(plain, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  const auto first_fit = placed(groups, machine, Scheme::first_fit);
  EXPECT_THAT(first_fit, ElementsAre(3, 7, 11,  // the tiny ones fill up
                                     0, 1, 2,   //
                                     4, 5, 6,   //
                                     8, 9, 10));
  const auto most_reservation = placed(groups, machine, Scheme::most_reservation);
  EXPECT_THAT(most_reservation, ElementsAre(0, 1, 2,     //
                                            4, 5, 6,     //
                                            8, 9, 10,    //
                                            3, 7, 11));  // a large one, torn
  EXPECT_EQ(torn(groups, plain, 4), 2U);
  EXPECT_EQ(torn(groups, first_fit, 4), 0U);
  EXPECT_EQ(torn(groups, most_reservation, 4), 1U);
}

// Figure 4, situation (c): in between, and many clusters.
TEST(Figure4, MostReservationHasFewerClustersAcrossNodesInBetween) {
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
                                     6, 13));  // torn
  const auto most_reservation = placed(groups, machine, Scheme::most_reservation);
  EXPECT_THAT(most_reservation, ElementsAre(0, 1,     //
                                            2, 3, 4,  //
                                            7, 8, 9,  //
                                            5, 6,     // the rest of node 0
                                            10, 11,   //
                                            12, 13));
  EXPECT_EQ(torn(groups, plain, 7), 1U);
  EXPECT_EQ(torn(groups, first_fit, 7), 1U);
  EXPECT_EQ(torn(groups, most_reservation, 7), 0U);
}

TEST(Adaptive, ChoosesBySpreadAndNumberOfTheClusters) {
  const SchemeOptions options{.scheme = Scheme::adaptive, .low = 0.1, .high = 0.4, .many = 6};
  EXPECT_EQ(chosen_scheme(clusters({3, 3, 3, 3, 3}), options), Scheme::plain);
  EXPECT_EQ(chosen_scheme(clusters({1, 1, 3, 3, 3}), options), Scheme::first_fit);            // 0.45
  EXPECT_EQ(chosen_scheme(clusters({1, 1, 1, 3, 3, 3}), options), Scheme::most_reservation);  // 0.5, but many
  EXPECT_EQ(chosen_scheme(clusters({2, 3, 3, 2, 2}), options), Scheme::most_reservation);     // 0.2
  const SchemeOptions forced{.scheme = Scheme::first_fit};
  EXPECT_EQ(chosen_scheme(clusters({3, 3}), forced), Scheme::first_fit);
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
    std::sort(sizes.begin(), sizes.end(), std::greater<>());  // so that the order is the one in which they are placed
    const Groups groups = clusters(sizes);
    const auto cores = placed(groups, "node:4=10 core:5=1", Scheme::first_fit);
    std::vector<std::uint32_t> idle(4, 5);
    for (std::uint32_t cluster = 0; cluster < groups.size(); ++cluster) {
      const auto holds = std::find_if(idle.begin(), idle.end(), [&](auto free) { return free >= sizes[cluster]; });
      for (const std::uint32_t rank : groups[cluster]) {
        if (holds != idle.end()) {
          ASSERT_EQ(cores[rank] / 5, static_cast<std::uint32_t>(holds - idle.begin()));
        }
      }
      for (const std::uint32_t rank : groups[cluster]) --idle[cores[rank] / 5];
    }
  }
}

TEST(FirstFit, LetsAClusterLargerThanANodeRunOn) {
  EXPECT_THAT(placed(clusters({3, 5}), "node:3=10 core:4=1", Scheme::first_fit), ElementsAre(5, 6, 7, 0, 1, 2, 3, 4));
}

TEST(FirstFit, TakesTheNodeThatHoldsAClusterWholeWhereNodesDiffer) {
  EXPECT_THAT(placed(clusters({5, 2}), "node:3=10 core:2+7+4=1", Scheme::first_fit), ElementsAre(2, 3, 4, 5, 6, 0, 1));
}

TEST(MostReservation, MovesForwardWhenThatSparesANode) {
  EXPECT_THAT(placed(clusters({3, 5}), "node:3=10 core:4=1", Scheme::most_reservation),
              ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(MostReservation, DoesNotMoveForwardOtherwise) {
  EXPECT_THAT(placed(clusters({1, 4}), "node:3=10 core:4=1", Scheme::most_reservation), ElementsAre(0, 4, 5, 6, 7));
}

TEST(MostReservation, WrapsRoundToWhatIsStillIdle) {
  EXPECT_THAT(placed(clusters({1, 5}), "node:2=10 core:4=1", Scheme::most_reservation), ElementsAre(0, 4, 5, 6, 7, 1));
}

TEST(EveryScheme, IsTheDefaultOrderWhenEveryRankIsACluster) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const std::uint32_t ranks : {5U, 30U}) {
      SCOPED_TRACE(name);
      const auto problem = make_problem(silent(ranks), machine, CostModel::bytes, {.oversubscribe = true});
      const Groups alone = clusters(std::vector<std::uint32_t>(ranks, 1));
      const auto nodes = node_places(problem.view());
      const auto block = block_placement(ranks, machine, problem.capacities);
      for (const Scheme scheme : {Scheme::plain, Scheme::first_fit, Scheme::most_reservation}) {
        EXPECT_EQ(place_clusters(alone, nodes, scheme), block);
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
      const auto problem = make_problem(silent(ranks), machine, CostModel::bytes, {.oversubscribe = true});
      std::vector<std::uint32_t> sizes;
      for (std::uint32_t left = ranks; left > 0; left -= sizes.back()) {
        sizes.push_back(static_cast<std::uint32_t>(1 + random.below(std::min(left, 9U))));
      }
      for (const Scheme scheme : {Scheme::plain, Scheme::first_fit, Scheme::most_reservation}) {
        auto core_of = place_clusters(clusters(sizes), node_places(problem.view()), scheme);
        EXPECT_TRUE(Mapping::checked(std::move(core_of), machine, problem.capacities));
      }
    }
  }
}

TEST(NodePlaces, CountTheNodesThatAreNeeded) {
  const auto problem = make_problem(silent(4), topology("node:3=10 core:2+7+4=1"));
  const auto nodes = node_places(problem.view());
  EXPECT_EQ(nodes.node_count(), 3U);
  EXPECT_EQ(nodes.nodes_for(0), 0U);
  EXPECT_EQ(nodes.nodes_for(7), 1U);
  EXPECT_EQ(nodes.nodes_for(8), 2U);
  EXPECT_EQ(nodes.nodes_for(13), 3U);
}

TEST(NodePlaces, AreThePartsOfAMachineOfOneNode) {
  const auto problem = make_problem(silent(4), topology("package:2=5 core:4=1"));
  EXPECT_EQ(node_places(problem.view()).node_count(), 2U);
}

}  // namespace
}  // namespace rankloom
