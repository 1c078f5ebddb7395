// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/external/integer_weights.hpp"

#include <cstdint>
#include <numeric>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

std::vector<std::int32_t> weights_of(const std::vector<double>& values, double max_sum) {
  return integer_weights<std::int32_t>(values, max_sum);
}

TEST(IntegerWeights, KeepIntegersThatFit) {
  EXPECT_EQ(weights_of({3, 0, 700}, 1000), (std::vector<std::int32_t>{3, 0, 700}));
  EXPECT_EQ(weights_of({}, 1000), std::vector<std::int32_t>());
  EXPECT_EQ(weights_of({0, 0}, 1000), (std::vector<std::int32_t>{0, 0}));
}

TEST(IntegerWeights, KeepProportionsOfFractionsToOnePercent) {
  const auto numbers = weights_of({0.37, 0.41, 0.1}, 1e6);
  EXPECT_NEAR(static_cast<double>(numbers[0]) / numbers[2], 3.7, 0.037);
  EXPECT_NEAR(static_cast<double>(numbers[1]) / numbers[2], 4.1, 0.041);
}

TEST(IntegerWeights, StayInRangeAndPositiveOverManyOrdersOfMagnitude) {
  for (const std::vector<double>& values :
       {std::vector<double>{1e-6, 1, 1e6, 1e12}, {1e300, 1e308, 1e308, 1}, {1e-300, 2e-300, 1e-310}, {1e12, 1e12, 1}}) {
    const auto numbers = weights_of(values, 1e9);
    EXPECT_LE(std::accumulate(numbers.begin(), numbers.end(), 0.0), 1e9);
    for (const auto number : numbers) EXPECT_GE(number, 1);
    for (std::size_t a = 0; a < values.size(); ++a) {
      for (std::size_t b = 0; b < values.size(); ++b) {
        if (values[a] < values[b]) {
          EXPECT_LE(numbers[a], numbers[b]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rankloom
