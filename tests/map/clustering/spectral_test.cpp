// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/spectral.hpp"

#include <chrono>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

Groups clusters_of(const CommGraph& graph, std::uint32_t k, SpectralOptions options = {}, std::uint64_t seed = 0) {
  const std::vector<std::uint32_t> cluster_counts{k};
  SpectralClustering spectral(Affinity(graph), options, cluster_counts, seed, {});
  auto clusters = spectral.clusters(k);
  EXPECT_TRUE(clusters);
  return clusters ? *std::move(clusters) : Groups{};
}

void expect_clusters(const Groups& groups, std::uint32_t ranks, std::uint32_t k) {
  ASSERT_EQ(groups.size(), k);
  std::set<std::uint32_t> distinct(groups.members.begin(), groups.members.end());
  ASSERT_EQ(groups.members.size(), ranks);
  ASSERT_EQ(distinct.size(), ranks);
  for (std::uint32_t group = 0; group < k; ++group) {
    ASSERT_FALSE(groups[group].empty());
    ASSERT_TRUE(std::is_sorted(groups[group].begin(), groups[group].end()));
    if (group > 0) {
      ASSERT_LT(groups[group - 1].front(), groups[group].front());
    }
  }
}

/// Groups with heavy traffic inside and light traffic to all other ranks.
CommGraph planted_groups(std::uint32_t groups, std::uint32_t size, double outside) {
  CommGraphBuilder builder(groups * size);
  for (std::uint32_t a = 0; a < groups * size; ++a) {
    for (std::uint32_t b = 0; b < groups * size; ++b) {
      if (a != b) builder.add(Rank{a}, Rank{b}, a % groups == b % groups ? 100 : outside);
    }
  }
  return std::move(builder).build(false);
}

TEST(CpNsc, FindsGroupsWithHeavyTrafficInside) {
  for (const double outside : {0.0, 1.0, 5.0}) {
    const auto clusters = clusters_of(planted_groups(6, 5, outside), 6);
    expect_clusters(clusters, 30, 6);
    for (std::uint32_t group = 0; group < 6; ++group) {
      ASSERT_EQ(clusters[group].size(), 5U);
      for (const std::uint32_t rank : clusters[group]) EXPECT_EQ(rank % 6, group);
    }
  }
}

TEST(CpNsc, FindsTheTwoHalvesOfThePapersFigure2) {
  const auto clusters = clusters_of(testing::measured("cg.W.8", 8), 2);
  expect_clusters(clusters, 8, 2);
  EXPECT_EQ(std::vector<std::uint32_t>(clusters[0].begin(), clusters[0].end()),
            (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(CpNsc, ReturnsExactlyKClustersOnAnyGraph) {
  CommGraphBuilder pairs(12), star(12), uneven(12);
  for (std::uint32_t rank = 0; rank < 8; rank += 2) pairs.add(Rank{rank}, Rank{rank + 1}, 10);
  for (std::uint32_t rank = 1; rank < 12; ++rank) star.add(Rank{0}, Rank{rank}, 1);
  for (std::uint32_t rank = 0; rank < 6; ++rank) uneven.add(Rank{rank}, Rank{rank + 1}, rank == 2 ? 1e-200 : 1e100);
  const std::vector<CommGraph> graphs{std::move(CommGraphBuilder(12)).build(false),
                                      std::move(pairs).build(false),
                                      std::move(star).build(false),
                                      std::move(uneven).build(false),
                                      planted_groups(1, 12, 0),
                                      planted_groups(4, 3, 0),
                                      testing::shuffled_grid(3, 4, 1),
                                      testing::random_graph(12, 0.2, 1)};
  for (std::size_t at = 0; at < graphs.size(); ++at) {
    for (std::uint32_t k = 1; k <= 12; ++k) {
      for (const std::uint64_t max_direct_clusters : {2, 5, 64}) {
        SCOPED_TRACE(std::to_string(at) + " " + std::to_string(k) + " " + std::to_string(max_direct_clusters));
        expect_clusters(clusters_of(graphs[at], k, {.max_direct_clusters = max_direct_clusters}), 12, k);
      }
    }
  }
}

TEST(CpNsc, KeepsComponentsInSeparateClustersWhenThereAreEnoughClusters) {
  const CommGraph graph = testing::shuffled_groups(5, 7, 3);
  for (const std::uint32_t k : {5U, 8U, 20U}) {
    const auto clusters = clusters_of(graph, k);
    expect_clusters(clusters, 35, k);
    for (std::uint32_t group = 0; group < k; ++group) {
      for (const std::uint32_t rank : clusters[group]) {
        if (rank == clusters[group].front()) continue;
        const auto targets = graph.targets(Rank{clusters[group].front()});
        EXPECT_NE(std::find(targets.begin(), targets.end(), Rank{rank}), targets.end());
      }
    }
  }
}

TEST(CpNsc, CombinesSmallComponentsWhenThereAreMoreComponentsThanClusters) {
  // 20 ranks without traffic and a group of 20: two clusters for each half.
  CommGraphBuilder builder(40);
  for (std::uint32_t a = 20; a < 40; ++a) {
    for (std::uint32_t b = 20; b < 40; ++b) {
      if (a != b) builder.add(Rank{a}, Rank{b}, (a < 30) == (b < 30) ? 100 : 1);
    }
  }
  const auto clusters = clusters_of(std::move(builder).build(false), 4);
  expect_clusters(clusters, 40, 4);
  for (std::uint32_t group = 0; group < 4; ++group) {
    EXPECT_EQ(clusters[group].size(), 10U);
    EXPECT_EQ(clusters[group].back(), clusters[group].front() + 9);
  }
}

TEST(CpNsc, DividesTheElementsWhenThereAreManyClusters) {
  const CommGraph graph = testing::shuffled_grid(40, 40, 2);
  const auto clusters = clusters_of(graph, 100, {.max_direct_clusters = 8});
  expect_clusters(clusters, 1600, 100);
  // The mean is 16 members. No cluster is much larger or scattered, so most of the traffic stays inside clusters.
  std::vector<std::uint32_t> cluster_of(1600);
  for (std::uint32_t group = 0; group < 100; ++group) {
    EXPECT_LE(clusters[group].size(), 64U);
    for (const std::uint32_t rank : clusters[group]) cluster_of[rank] = group;
  }
  double inside = 0;
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      if (cluster_of[index(rank)] == cluster_of[index(graph.targets(rank)[edge])]) inside += graph.bytes(rank)[edge];
    }
  }
  EXPECT_GT(inside, 0.6 * graph.total_bytes());  // squares of 4 x 4 would keep 0.77
}

TEST(CpNsc, ReusesEigenvectorsForSeveralKWithoutChangingTheResult) {
  const CommGraph graph = testing::shuffled_grid(12, 12, 2);
  const std::vector<std::uint32_t> cluster_counts{24, 12, 9};
  SpectralClustering together(Affinity(graph), {}, cluster_counts, 7, {});
  for (const std::uint32_t k : cluster_counts)
    EXPECT_EQ(together.clusters(k)->members, clusters_of(graph, k, {}, 7).members);
}

TEST(CpNsc, GivesTheSameResultOnAnyNumberOfThreads) {
  const CommGraph graph = testing::shuffled_grid(40, 40, 2);
  for (const std::uint32_t k : {12U, 300U}) {
    std::vector<Groups> results;
    for (const std::size_t threads : {1, 2}) {
      const ThreadLimit limit(threads);
      results.push_back(clusters_of(graph, k, {}, 3));
    }
    EXPECT_EQ(results[0].members, results[1].members);
    EXPECT_EQ(results[0].ends, results[1].ends);
  }
}

TEST(CpNsc, ReturnsNothingAfterTheDeadline) {
  const std::vector<std::uint32_t> cluster_counts{4};
  SpectralClustering spectral(Affinity(testing::shuffled_grid(5, 5, 1)), {}, cluster_counts, 0,
                              Deadline::in(std::chrono::milliseconds(-1)));
  EXPECT_FALSE(spectral.clusters(4));
}

TEST(Apportion, IsProportionalWithAtLeastOneAndAtMostItsSizeForEach) {
  using Shares = std::vector<std::uint32_t>;
  EXPECT_EQ(apportion(6, Shares{10, 20}), (Shares{2, 4}));
  EXPECT_EQ(apportion(7, Shares{10, 20}), (Shares{2, 5}));
  EXPECT_EQ(apportion(3, Shares{1, 1, 100}), (Shares{1, 1, 1}));
  EXPECT_EQ(apportion(5, Shares{1, 1, 100}), (Shares{1, 1, 3}));
  EXPECT_EQ(apportion(102, Shares{1, 1, 100}), (Shares{1, 1, 100}));
  EXPECT_EQ(apportion(3, Shares{4, 4}), (Shares{2, 1}));
  Random random(1);
  for (int round = 0; round < 500; ++round) {
    Shares sizes(1 + random.below(8));
    for (auto& size : sizes) size = static_cast<std::uint32_t>(1 + random.below(30));
    const auto sum = std::accumulate(sizes.begin(), sizes.end(), 0U);
    const auto total = static_cast<std::uint32_t>(sizes.size() + random.below(sum - sizes.size() + 1));
    const auto shares = apportion(total, sizes);
    EXPECT_EQ(std::accumulate(shares.begin(), shares.end(), 0U), total);
    for (std::size_t at = 0; at < sizes.size(); ++at) {
      EXPECT_GE(shares[at], 1U);
      EXPECT_LE(shares[at], sizes[at]);
    }
  }
}

}  // namespace
}  // namespace rankloom
