// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/text/units.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Units, BytesTakeDecimalAndBinaryPrefixes) {
  EXPECT_EQ(parse_bytes("64"), 64);
  EXPECT_EQ(parse_bytes("4k"), 4000);
  EXPECT_EQ(parse_bytes("60MB"), 60e6);
  EXPECT_EQ(parse_bytes("4KiB"), 4096);
  EXPECT_EQ(parse_bytes("1.5GiB"), 1.5 * 1024 * 1024 * 1024);
  for (const char* bad : {"", "x", "4Q", "4 k", "nan", "inf", "4kBB", "--4"}) EXPECT_FALSE(parse_bytes(bad)) << bad;
}

TEST(Units, TimesWithUnitsAreConvertedToNanoseconds) {
  EXPECT_EQ(parse_nanoseconds("2.5us", 1), 2500);
  EXPECT_EQ(parse_nanoseconds("7", 1), 7);
  EXPECT_EQ(parse_nanoseconds("2s", 1), 2e9);
  EXPECT_EQ(parse_nanoseconds("3", 1e9), 3e9);
  EXPECT_FALSE(parse_nanoseconds("3 h", 1));
}

TEST(Units, AnInverseBandwidthCanBeGivenAsABandwidth) {
  EXPECT_EQ(parse_inverse_bandwidth("0.25"), 0.25);
  EXPECT_DOUBLE_EQ(*parse_inverse_bandwidth("10GB/s"), 0.1);
  EXPECT_DOUBLE_EQ(*parse_inverse_bandwidth("100Gbit/s"), 0.08);
  EXPECT_FALSE(parse_inverse_bandwidth("0GB/s"));
  EXPECT_FALSE(parse_inverse_bandwidth("10GB"));
}

TEST(Units, NumbersAreFormattedWithUnits) {
  EXPECT_EQ(format_count(10077696), "10,077,696");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_bytes(1500000), "1.5 MB");
  EXPECT_EQ(format_bytes(999.7), "1 kB");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
}

}  // namespace
}  // namespace rankloom
