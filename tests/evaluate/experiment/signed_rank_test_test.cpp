// SPDX-License-Identifier: Apache-2.0
// Tests of evaluate/experiment: Wilcoxon's signed-rank test, against values computed by hand.
#include "rankloom/evaluate/experiment/signed_rank_test.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(SignedRankTest, CountsAllSignsOfFewDifferences) {
  // 10 of the 32 subsets of {1..5} have a sum of at most 5.
  const auto test = signed_rank_test(std::vector<double>{1, 2, 3, 4, -5});
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.positive_ranks, 10);
  EXPECT_EQ(test.negative_ranks, 5);
  EXPECT_DOUBLE_EQ(test.p_value, 2 * 10 / 32.0);
  EXPECT_DOUBLE_EQ(test.effect, 5 / 15.0);
}

TEST(SignedRankTest, IsThatOfDarwinsPlants) {
  // Differences in height of 15 pairs of plants (Fisher 1935); the negative ones have the ranks 10 and 14.
  const auto test = signed_rank_test(std::vector<double>{6, 8, 14, 16, 23, 24, 28, 29, 41, -48, 49, 56, 60, -67, 75});
  EXPECT_TRUE(test.exact);
  EXPECT_EQ(test.negative_ranks, 24);
  EXPECT_DOUBLE_EQ(test.p_value, 0.041259765625);
}

TEST(SignedRankTest, UsesTheNormalApproximationWithTies) {
  // Mean 5, variance 7.5 - 60 / 48 = 6.25, z = (5 - 0 - 0.5) / 2.5 = 1.8.
  const auto test = signed_rank_test(std::vector<double>{1, 1, 1, 1});
  EXPECT_FALSE(test.exact);
  EXPECT_EQ(test.positive_ranks, 10);
  EXPECT_NEAR(test.p_value, 0.0718606, 1e-6);
  EXPECT_EQ(test.effect, 1);
}

TEST(SignedRankTest, UsesTheNormalApproximationWithManyDifferences) {
  std::vector<double> differences;
  for (int i = 1; i <= 26; ++i) differences.push_back(i == 26 ? -i : i);
  const auto test = signed_rank_test(differences);
  EXPECT_FALSE(test.exact);  // mean 175.5, variance 1550.25, z = (175.5 - 26 - 0.5) / 39.3732 = 3.7843
  EXPECT_NEAR(test.p_value, 0.000154, 2e-6);
}

TEST(SignedRankTest, LeavesOutDifferencesOfZero) {
  const auto test = signed_rank_test(std::vector<double>{0, -1, 0, -2, -3, -4, -5, -6});
  EXPECT_EQ(test.pairs, 6U);
  EXPECT_DOUBLE_EQ(test.p_value, 2 / 64.0);
  EXPECT_EQ(test.effect, -1);
  EXPECT_EQ(signed_rank_test(std::vector<double>{0, 0}).p_value, 1);
  EXPECT_EQ(signed_rank_test({}).pairs, 0U);
}

TEST(SignedRankTest, TreatsInfiniteDifferencesAsTheLargest) {
  const auto test = signed_rank_test(std::vector<double>{1, std::numeric_limits<double>::infinity(), -2});
  EXPECT_EQ(test.positive_ranks, 4);
}

TEST(SignedRankTest, NeedsSixDifferencesForFivePercent) {
  EXPECT_EQ(min_pairs_for(0.05), 6U);
  EXPECT_EQ(min_pairs_for(0.01), 8U);
}

}  // namespace
}  // namespace rankloom
