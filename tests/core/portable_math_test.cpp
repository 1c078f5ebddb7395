// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/portable_math.hpp"

#include <bit>
#include <cstdint>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

TEST(PortableMath, AgreesWithTheLibraryToTheLastDigits) {
  Random random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const double x = std::ldexp(1 + random.unit(), static_cast<int>(random.below(2000)) - 1000);
    EXPECT_NEAR(portable_log(x), std::log(x), 4e-16 * std::abs(std::log(x))) << x;
    EXPECT_NEAR(portable_log2(x), std::log2(x), 1e-15 * std::abs(std::log2(x))) << x;
    const double y = 1400 * random.unit() - 700;
    EXPECT_NEAR(portable_exp(y), std::exp(y), 1e-15 * std::exp(y)) << y;
    const double near_one = 0.9 + 0.2 * random.unit();
    EXPECT_NEAR(portable_log(near_one), std::log(near_one), 4e-16 * std::abs(std::log(near_one)) + 1e-300) << near_one;
    EXPECT_NEAR(portable_pow(near_one, y), std::pow(near_one, y), 1e-13 * std::pow(near_one, y)) << near_one;
  }
}

TEST(PortableMath, IsExactWhereTheResultIsSimple) {
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_exp(0), 1);
  for (int power = -1000; power <= 1000; ++power) EXPECT_EQ(portable_log2(std::ldexp(1, power)), power);
  EXPECT_EQ(portable_pow(1, 0.37), 1);
  EXPECT_EQ(portable_pow(1.7, 1), 1.7);
  EXPECT_EQ(portable_pow(1.7, 0), 1);
  EXPECT_EQ(portable_exp(-1000), 0);
  EXPECT_TRUE(std::isinf(portable_exp(1000)));
}

TEST(PortableMath, HasTheSameBitsOnEveryArchitecture) {
  // The sum of all bits over many arguments, as computed on x86-64 and on aarch64.
  std::uint64_t bits = 0;
  Random random(2);
  for (int trial = 0; trial < 20'000; ++trial) {
    bits = mix(bits ^ std::bit_cast<std::uint64_t>(portable_log(100 * random.unit() + 1e-9)));
    bits = mix(bits ^ std::bit_cast<std::uint64_t>(portable_exp(60 * random.unit() - 50)));
    const double base = 1 + random.unit(), exponent = random.unit();
    bits = mix(bits ^ std::bit_cast<std::uint64_t>(portable_pow(base, exponent)));
  }
  EXPECT_EQ(bits, 15967250924573791718ULL);
}

}  // namespace
}  // namespace rankloom
