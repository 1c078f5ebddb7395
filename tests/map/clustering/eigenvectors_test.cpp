// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/eigenvectors.hpp"

#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// A cube of ranks, each of which communicates with its neighbours. Equal sides give multiple eigenvalues.
Affinity box(std::uint32_t side) {
  CommGraphBuilder builder(side * side * side);
  for (std::uint32_t at = 0; at < side * side * side; ++at) {
    if (at % side + 1 < side) builder.add(Rank{at}, Rank{at + 1}, 10);
    if (at / side % side + 1 < side) builder.add(Rank{at}, Rank{at + side}, 10);
    if (at / (side * side) + 1 < side) builder.add(Rank{at}, Rank{at + side * side}, 10);
  }
  return Affinity(std::move(builder).build(false));
}

/// D^(-1/2) S D^(-1/2) · x, written as in the paper.
std::vector<double> normalised_times(const Affinity& graph, const Similarity& similarity, const double* x) {
  double max_weight = 0;
  for (const double weight : graph.all_weights()) max_weight = std::max(max_weight, weight);
  std::vector<double> degree(graph.size(), similarity.self), result(graph.size(), 0.0);
  for (std::uint32_t row = 0; row < graph.size(); ++row) {
    for (const double weight : graph.weights(row)) degree[row] += weight / max_weight * similarity.maximum;
  }
  for (std::uint32_t row = 0; row < graph.size(); ++row) {
    result[row] = similarity.self / degree[row] * x[row];
    for (std::size_t edge = 0; edge < graph.degree(row); ++edge) {
      const std::uint32_t neighbour = graph.neighbours(row)[edge];
      result[row] += graph.weights(row)[edge] / max_weight * similarity.maximum /
                     std::sqrt(degree[row] * degree[neighbour]) * x[neighbour];
    }
  }
  return result;
}

double largest_error(const Affinity& graph, const Similarity& similarity, const Eigenvectors& vectors) {
  double worst = 0;
  for (std::uint32_t column = 0; column < vectors.columns(); ++column) {
    const double* const x = vectors.values.data() + std::size_t{column} * vectors.rows;
    const auto product = normalised_times(graph, similarity, x);
    double square = 0, length = 0;
    for (std::uint32_t row = 0; row < vectors.rows; ++row) {
      const double residual = product[row] - vectors.eigenvalues[column] * x[row];
      square += residual * residual;
      length += x[row] * x[row];
    }
    EXPECT_NEAR(length, 1, 1e-9);
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

TEST(LeadingEigenvectors, AreExactOnSmallGraphs) {
  for (const Similarity similarity : {Similarity{1, 1}, Similarity{0.5, 3}, Similarity{0, 1}}) {
    const Affinity graph(testing::random_graph(40, 0.3, 1));
    const auto vectors = leading_eigenvectors(graph, similarity, 12, 0, {});
    ASSERT_TRUE(vectors);
    ASSERT_EQ(vectors->columns(), 12U);
    EXPECT_NEAR(vectors->eigenvalues[0], 1, 1e-9);
    EXPECT_LT(largest_error(graph, similarity, *vectors), 1e-9);
  }
}

TEST(LeadingEigenvectors, OfAMultipleEigenvalueDoNotDependOnTheLastBitsOfTheMatrix) {
  const Affinity cube = box(4);
  const Similarity similarity;
  const auto vectors = leading_eigenvectors(cube, similarity, 8, 0, {});
  ASSERT_TRUE(vectors);
  ASSERT_NEAR(vectors->eigenvalues[1], vectors->eigenvalues[3], 1e-12);
  // The last bits decide which basis of an eigenspace and which signs a solver finds.
  CommGraphBuilder builder(64);
  for (std::uint32_t from = 0; from < cube.size(); ++from) {
    for (std::size_t edge = 0; edge < cube.degree(from); ++edge) {
      const std::uint32_t to = cube.neighbours(from)[edge];
      if (from < to) builder.add(Rank{from}, Rank{to}, cube.weights(from)[edge] * (1 + 1e-15 * ((from * 7 + to) % 5)));
    }
  }
  const auto others = leading_eigenvectors(Affinity(std::move(builder).build(false)), similarity, 8, 0, {});
  ASSERT_TRUE(others);
  for (std::size_t at = 0; at < vectors->values.size(); ++at) {
    EXPECT_NEAR(vectors->values[at], others->values[at], 1e-9);
  }
}

TEST(LeadingEigenvectors, OfLargeGraphsIncludeMultipleEigenvalues) {
  const Affinity graph = box(7);  // 343 elements
  ASSERT_GT(graph.size(), max_dense_size);
  const std::uint32_t wanted = 20;
  const auto all = leading_eigenvectors(graph, {}, graph.size() / 2, 0, {});
  const auto some = leading_eigenvectors(graph, {}, wanted, 0, {});
  ASSERT_TRUE(all && some);
  ASSERT_EQ(some->columns(), wanted);
  // Nearly all eigenvalues of the cube have multiplicity three or six.
  EXPECT_NEAR(all->eigenvalues[1], all->eigenvalues[3], 1e-9);
  for (std::uint32_t column = 0; column < wanted; ++column) {
    EXPECT_NEAR(some->eigenvalues[column], all->eigenvalues[column], 2e-3) << column;
  }
  EXPECT_LT(largest_error(graph, {}, *some), 0.03);
}

TEST(LeadingEigenvectors, AreFiniteWhenWeightsDifferExtremely) {
  for (const std::uint32_t ranks : {6U, 400U}) {
    CommGraphBuilder builder(ranks);
    for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank) builder.add(Rank{rank}, Rank{rank + 1}, 1);
    builder.add(Rank{0}, Rank{1}, 1e300);
    builder.add(Rank{2}, Rank{3}, 1e-300);
    const Affinity graph(std::move(builder).build(false));
    for (const double self : {0.0, 1.0}) {
      const auto vectors = leading_eigenvectors(graph, {.self = self}, 4, 0, {});
      ASSERT_TRUE(vectors);
      for (const double value : vectors->values) ASSERT_TRUE(std::isfinite(value));
    }
  }
}

TEST(LeadingEigenvectors, AreNotReturnedAfterTheDeadline) {
  const Deadline past = Deadline::in(std::chrono::milliseconds(-1));
  EXPECT_FALSE(leading_eigenvectors(box(3), {}, 4, 0, past));
  EXPECT_FALSE(leading_eigenvectors(box(7), {}, 4, 0, past));
}

}  // namespace
}  // namespace rankloom
