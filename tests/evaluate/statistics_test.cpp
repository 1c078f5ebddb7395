// SPDX-License-Identifier: Apache-2.0
// evaluate: statistics of repeated runs, and rank correlations.
#include "rankloom/evaluate/statistics.hpp"

#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Statistics, ASingleValueHasNoSpread) {
  const std::array values{3.5};
  const Sample sample = summarise(values);
  EXPECT_EQ(sample.mean, 3.5);
  EXPECT_EQ(sample.spread, 0);
  EXPECT_EQ(sample.min, 3.5);
  EXPECT_EQ(sample.max, 3.5);
}

TEST(Statistics, TheSpreadDividesByTheNumberOfValuesMinusOne) {
  const std::array values{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  const Sample sample = summarise(values);
  EXPECT_DOUBLE_EQ(sample.mean, 5);
  EXPECT_NEAR(sample.spread, 2.13809, 1e-5);
  EXPECT_EQ(sample.min, 2);
  EXPECT_EQ(sample.max, 9);
}

TEST(RankCorrelation, DependsOnTheOrderOnly) {
  const std::vector<double> rising{1, 2, 3, 4}, steep{1, 10, 100, 1000}, falling{4, 3, 2, 1}, flat{1, 1, 1, 1};
  EXPECT_DOUBLE_EQ(spearman_correlation(rising, steep), 1);
  EXPECT_DOUBLE_EQ(kendall_correlation(rising, steep), 1);
  EXPECT_DOUBLE_EQ(spearman_correlation(rising, falling), -1);
  EXPECT_DOUBLE_EQ(kendall_correlation(rising, falling), -1);
  EXPECT_EQ(spearman_correlation(rising, flat), 0);
  EXPECT_EQ(kendall_correlation(rising, flat), 0);
  const std::array two{1.0, 2.0}, others{7.0, 5.0};
  EXPECT_DOUBLE_EQ(spearman_correlation(two, two), 1);
  EXPECT_DOUBLE_EQ(spearman_correlation(two, others), -1);
  EXPECT_DOUBLE_EQ(kendall_correlation(two, others), -1);
}

TEST(RankCorrelation, TiesShareTheirRank) {
  // Manual calculation: ranks 0 1.5 1.5 3 against 0 1 2 3; five of six pairs are concordant, one is tied in the first
  // list.
  const std::vector<double> tied{1, 2, 2, 3}, rising{1, 2, 3, 4};
  EXPECT_NEAR(spearman_correlation(tied, rising), 4.5 / std::sqrt(4.5 * 5), 1e-12);
  EXPECT_NEAR(kendall_correlation(tied, rising), 5 / std::sqrt(5.0 * 6), 1e-12);
}

}  // namespace
}  // namespace rankloom
