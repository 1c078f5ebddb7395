// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/k_means.hpp"

#include <set>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

std::vector<double> random_points(std::size_t points, std::size_t dimensions, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> rows(points * dimensions);
  for (double& value : rows) value = random.unit();
  return rows;
}

std::vector<std::uint32_t> run_k_means(const std::vector<double>& rows, std::uint32_t dimensions, std::uint32_t k,
                                       std::uint64_t seed, KMeansOptions options = {}) {
  Random random(seed);
  return k_means(rows, dimensions, k, options, random);
}

TEST(KMeans, FindsWellSeparatedGroups) {
  std::vector<double> rows;
  Random random(1);
  for (int point = 0; point < 60; ++point) {
    rows.push_back(10 * (point % 3) + random.unit());
    rows.push_back(random.unit());
  }
  const auto labels = run_k_means(rows, 2, 3, 5, {.restarts = 5});
  for (std::size_t point = 3; point < 60; ++point) EXPECT_EQ(labels[point], labels[point % 3]);
  EXPECT_EQ(std::set<std::uint32_t>(labels.begin(), labels.begin() + 3).size(), 3U);
}

TEST(KMeans, EndsWithEveryPointAtItsNearestCentre) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const std::uint32_t dimensions = 3, k = 7;
    const auto rows = random_points(200, dimensions, seed);
    const auto labels = run_k_means(rows, dimensions, k, seed, {.restarts = 2, .max_rounds = 1000});
    std::vector<double> centres(k * dimensions, 0.0), sizes(k, 0.0);
    for (std::size_t point = 0; point < 200; ++point) {
      ++sizes[labels[point]];
      for (std::size_t at = 0; at < dimensions; ++at) {
        centres[labels[point] * dimensions + at] += rows[point * dimensions + at];
      }
    }
    for (std::size_t at = 0; at < centres.size(); ++at) centres[at] /= sizes[at / dimensions];
    const auto distance = [&](std::size_t point, std::size_t centre) {
      double square = 0;
      for (std::size_t at = 0; at < dimensions; ++at) {
        const double difference = rows[point * dimensions + at] - centres[centre * dimensions + at];
        square += difference * difference;
      }
      return square;
    };
    for (std::size_t point = 0; point < 200; ++point) {
      for (std::size_t centre = 0; centre < k; ++centre) {
        // Points and centres are rounded to multiples of 2^-20, about 1e-6, in each of three dimensions.
        EXPECT_LE(distance(point, labels[point]), distance(point, centre) + 1e-5);
      }
    }
  }
}

TEST(KMeans, DoesNotDependOnTheLastBitsOfThePoints) {
  // Points of a grid have many equal distances. Errors of an eigenvalue solver must not decide between them.
  std::vector<double> exact, inexact;
  Random random(7);
  for (int point = 0; point < 144; ++point) {
    for (const double value : {point % 12 / 12.0, point / 12 / 12.0, 0.125 * (point % 4)}) {
      exact.push_back(value);
      inexact.push_back(value * (1 + 1e-10 * (random.unit() - 0.5)));
    }
  }
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    EXPECT_EQ(run_k_means(exact, 3, 9, seed, {.restarts = 4}), run_k_means(inexact, 3, 9, seed, {.restarts = 4}));
  }
}

TEST(KMeans, LeavesNoClusterEmptyEvenWhenAllPointsAreEqual) {
  for (const double value : {0.0, 1.0}) {
    for (const std::uint32_t k : {1U, 2U, 5U, 9U}) {
      const auto labels = run_k_means(std::vector<double>(9 * 2, value), 2, k, 1);
      EXPECT_EQ(std::set<std::uint32_t>(labels.begin(), labels.end()).size(), k);
    }
  }
}

TEST(KMeans, IsNeverWorseWithMoreRestarts) {
  const auto rows = random_points(120, 2, 4);
  const auto sum_of_squares = [&](const std::vector<std::uint32_t>& labels) {
    double sum = 0;  // of the squared distances between members, divided by the cluster size: the k-means objective
    std::vector<double> sizes(12, 0.0);
    for (const auto label : labels) ++sizes[label];
    for (std::size_t a = 0; a < 120; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        if (labels[a] != labels[b]) continue;
        const double x = rows[2 * a] - rows[2 * b], y = rows[2 * a + 1] - rows[2 * b + 1];
        sum += (x * x + y * y) / sizes[labels[a]];
      }
    }
    return sum;
  };
  const double one = sum_of_squares(run_k_means(rows, 2, 12, 9, {.restarts = 1, .max_rounds = 1000}));
  const double many = sum_of_squares(run_k_means(rows, 2, 12, 9, {.restarts = 20, .max_rounds = 1000}));
  EXPECT_LE(many, one + 1e-12);
}

TEST(KMeans, GivesTheSameResultOnAnyNumberOfThreads) {
  const auto rows = random_points(10'000, 4, 6);
  std::vector<std::vector<std::uint32_t>> results;
  for (const std::size_t threads : {1, 2}) {
    const ThreadLimit limit(threads);
    results.push_back(run_k_means(rows, 4, 9, 3, {.restarts = 2}));
  }
  EXPECT_EQ(results[0], results[1]);
}

}  // namespace
}  // namespace rankloom
