// SPDX-License-Identifier: Apache-2.0
// tests of evaluate: repeated runs in a few numbers.
#include "rankloom/evaluate/statistics.hpp"

#include <array>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Statistics, OfASingleValueHaveNoSpread) {
  const std::array values{3.5};
  const Sample sample = summarise(values);
  EXPECT_EQ(sample.mean, 3.5);
  EXPECT_EQ(sample.spread, 0);
  EXPECT_EQ(sample.least, 3.5);
  EXPECT_EQ(sample.most, 3.5);
}

TEST(Statistics, DivideByOneLessThanTheNumberOfValues) {
  const std::array values{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  const Sample sample = summarise(values);
  EXPECT_DOUBLE_EQ(sample.mean, 5);
  EXPECT_NEAR(sample.spread, 2.13809, 1e-5);
  EXPECT_EQ(sample.least, 2);
  EXPECT_EQ(sample.most, 9);
}

}  // namespace
}  // namespace rankloom
