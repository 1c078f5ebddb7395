// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/affinity.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<double>> dense(const Affinity& affinity) {
  std::vector<std::vector<double>> matrix(affinity.size(), std::vector<double>(affinity.size(), 0));
  for (std::uint32_t row = 0; row < affinity.size(); ++row) {
    for (std::size_t edge = 0; edge < affinity.degree(row); ++edge) {
      matrix[row][affinity.neighbours(row)[edge]] += affinity.weights(row)[edge];
    }
  }
  return matrix;
}

std::vector<std::vector<double>> sum_of_directions(const CommGraph& graph) {
  std::vector<std::vector<double>> matrix(graph.rank_count(), std::vector<double>(graph.rank_count(), 0));
  for (const Rank from : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
      const Rank to = graph.targets(from)[edge];
      if (from == to) continue;
      matrix[index(from)][index(to)] += graph.bytes(from)[edge];
      matrix[index(to)][index(from)] += graph.bytes(from)[edge];
    }
  }
  return matrix;
}

/// All elements in groups of random sizes, in random order.
Groups random_groups(std::uint32_t elements, Random& random) {
  std::vector<std::uint32_t> order(elements);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(std::span(order));
  Groups groups;
  for (const std::uint32_t element : order) {
    groups.members.push_back(element);
    if (random.below(3) == 0) groups.close();
  }
  if (groups.ends.back() < groups.members.size()) groups.close();
  return groups;
}

/// Weights whose sums depend on the order in which they are added.
CommGraph with_fractions(std::uint32_t ranks, std::uint64_t seed) {
  Random random(seed);
  CommGraphBuilder builder(ranks);
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (random.below(3) == 0) builder.add(Rank{from}, Rank{to}, random.unit() * 1e3 + 0.1);
    }
  }
  return std::move(builder).build(false);
}

TEST(Affinity, AddsBothDirectionsWithoutTheDiagonal) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    for (const bool undirected : {false, true}) {
      const CommGraph graph = testing::random_graph(20, 0.3, seed, undirected);
      EXPECT_EQ(dense(Affinity(graph)), sum_of_directions(graph));
    }
  }
}

TEST(Affinity, IsTheSameWithAndWithoutReverseEdges) {
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    Random random(seed);
    CommGraphBuilder symmetric(12), with_one_more(13);
    for (std::uint32_t a = 0; a < 12; ++a) {
      for (std::uint32_t b = a; b < 12; ++b) {
        if (random.below(2) == 0) continue;
        for (const auto& [from, to] : {std::pair(a, b), std::pair(b, a)}) {
          const double bytes = random.unit();
          symmetric.add(Rank{from}, Rank{to}, bytes);
          with_one_more.add(Rank{from}, Rank{to}, bytes);
        }
      }
    }
    with_one_more.add(Rank{static_cast<std::uint32_t>(seed)}, Rank{12}, 1);  // has no reverse edge
    const auto smaller = dense(Affinity(std::move(symmetric).build(false)));
    auto larger = dense(Affinity(std::move(with_one_more).build(false)));
    EXPECT_EQ(larger[12][seed], 1);
    larger.pop_back();
    for (auto& row : larger) row.pop_back();
    EXPECT_EQ(larger, smaller);
  }
}

TEST(Affinity, ListsNeighboursInRisingOrderAndNoEmptyPairs) {
  CommGraphBuilder builder(4);
  builder.add(Rank{3}, Rank{0}, 5);
  builder.add(Rank{0}, Rank{2}, 1);
  builder.add(Rank{0}, Rank{1}, 0);
  builder.add(Rank{2}, Rank{0}, 2);
  const Affinity affinity(std::move(builder).build(false));
  EXPECT_THAT(affinity.neighbours(0), ElementsAre(2, 3));
  EXPECT_THAT(affinity.weights(0), ElementsAre(3, 5));
  EXPECT_EQ(affinity.degree(1), 0u);
}

TEST(Affinity, ContractsToThePapersSumsToTheLastBit) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const CommGraph graph = seed % 2 == 0 ? with_fractions(30, seed) : testing::random_graph(30, 0.2, seed);
    const Affinity fine(graph);
    const auto matrix = dense(fine);
    Random random(seed);
    const Groups groups = random_groups(30, random);
    std::vector<std::vector<double>> expected(groups.size(), std::vector<double>(groups.size(), 0));
    for (std::uint32_t a = 0; a < groups.size(); ++a) {
      for (std::uint32_t b = a + 1; b < groups.size(); ++b) {
        double sum = 0;
        for (const auto i : groups[a]) {
          for (const auto j : groups[b]) sum += matrix[i][j];
        }
        expected[a][b] = expected[b][a] = sum;
      }
    }
    EXPECT_EQ(dense(fine.contract(groups)), expected);
  }
}

TEST(Affinity, ContractsTheSameForAnyNumberOfThreads) {
  const Affinity fine(with_fractions(300, 7));
  Groups singletons;
  for (std::uint32_t element = 0; element < 300; ++element) {
    singletons.members.push_back(299 - element);
    singletons.close();
  }
  const auto run = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return dense(fine.contract(singletons));
  };
  EXPECT_EQ(run(1), run(2));
}

TEST(Affinity, SplitsIntoTheSubmatrixOfEachGroup) {
  const Affinity affinity(with_fractions(25, 3));
  const auto matrix = dense(affinity);
  Random random(9);
  Groups groups = random_groups(25, random);
  const auto submatrices = affinity.split(groups);
  ASSERT_EQ(submatrices.size(), groups.size());
  for (std::uint32_t group = 0; group < groups.size(); ++group) {
    const auto submatrix = dense(submatrices[group]);
    ASSERT_EQ(submatrix.size(), groups[group].size());
    for (std::size_t i = 0; i < submatrix.size(); ++i) {
      for (std::size_t j = 0; j < submatrix.size(); ++j)
        EXPECT_EQ(submatrix[i][j], matrix[groups[group][i]][groups[group][j]]);
    }
  }
}

}  // namespace
}  // namespace rankloom
