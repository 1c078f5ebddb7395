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

TEST(Units, ABlankOrAnInfiniteValueIsAnError) {
  for (const char* const text :
       {"64 M", "64M ", " 64M", "64 MB", "1e308M", "1e999", "nan", "inf", "0x10", "64MBB", "64iB"})
    EXPECT_EQ(parse_bytes(text), std::nullopt) << text;
  for (const char* const text : {"1 s", "1e308min", "1e999s", "nan"})
    EXPECT_EQ(parse_nanoseconds(text, 1e9), std::nullopt) << text;
  EXPECT_EQ(parse_nanoseconds("1e308", 1e9), std::nullopt);
  for (const char* const text : {"1e-320B/s", "10 GB/s", "0B/s", "-1GB/s"})
    EXPECT_EQ(parse_inverse_bandwidth(text), std::nullopt) << text;
}

TEST(Units, NumbersAreFormattedWithUnits) {
  EXPECT_EQ(format_count(10077696), "10,077,696");
  EXPECT_EQ(format_count(-1234), "-1,234");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_bytes(1500000), "1.5 MB");
  EXPECT_EQ(format_bytes(999.7), "1 kB");
  EXPECT_EQ(format_seconds(0.0123), "12.3 ms");
}

TEST(Units, DurationsHaveNoExponents) {
  EXPECT_EQ(format_seconds(0), "0 s");
  EXPECT_EQ(format_seconds(2.5e-7), "250 ns");
  EXPECT_EQ(format_seconds(0.0009996), "1 ms");  // not 1e+03 µs
  EXPECT_EQ(format_seconds(0.9996), "1 s");
  EXPECT_EQ(format_seconds(119), "119 s");
  EXPECT_EQ(format_seconds(2814), "46.9 min");
  EXPECT_EQ(format_seconds(2.76e3 * 60), "46 h");  // not 2.76e+03 min
  EXPECT_EQ(format_seconds(5 * 86400), "5 days");
  EXPECT_EQ(format_seconds(1e9), "11,574 days");
  EXPECT_EQ(format_seconds(-0.5), "-500 ms");
  for (double seconds = 1e-9; seconds < 1e12; seconds *= 1.01) {
    EXPECT_EQ(format_seconds(seconds).find('e'), std::string::npos) << seconds;
  }
}

TEST(Units, SizesHaveNoExponents) {
  for (double bytes = 1; bytes < 1e26; bytes *= 1.01) {
    EXPECT_EQ(format_bytes(bytes).find('e'), std::string::npos) << bytes;
  }
}

TEST(Units, PercentagesAreNotRoundedToZeroOrToAHundred) {
  EXPECT_EQ(percent(12.34), "12.3 %");
  EXPECT_EQ(percent(-12.34), "-12.3 %");
  EXPECT_EQ(percent(0), "0.0 %");
  EXPECT_EQ(percent(-0.0), "0.0 %");
  EXPECT_EQ(percent(100), "100.0 %");
  EXPECT_EQ(percent(99.97), "> 99.9 %");
  EXPECT_EQ(percent(0.04), "0.04 %");
  EXPECT_EQ(percent(0.0004), "< 0.01 %");
  EXPECT_EQ(percent(-0.0004), "> -0.01 %");
  EXPECT_EQ(percent(5000000), "5,000,000 %");
}

TEST(Units, LargeChangesAreFactors) {
  EXPECT_EQ(change(100, 100), "same");
  EXPECT_EQ(change(0, 5), "new");
  EXPECT_EQ(change(100, 88), "12.0 % less");
  EXPECT_EQ(change(100, 103), "3.0 % more");
  EXPECT_EQ(change(1, 50001), "50,001 times as much");  // not 5000000.0 % more
  EXPECT_EQ(change(2, 71), "35.5 times as much");
  EXPECT_EQ(excess(10, 11, "longer"), "10.0 % longer");
  EXPECT_EQ(excess(1, 123, "worse"), "123 times the best");
  EXPECT_EQ(excess(-10, -9, "worse"), "10.0 % worse");
  EXPECT_EQ(excess(0, 5, "worse"), "");
  EXPECT_EQ(factor(2.434), "2.43");
}

TEST(Units, NounsHaveTheirPlural) {
  EXPECT_EQ(plural("node"), "nodes");
  EXPECT_EQ(plural("switch"), "switches");
  EXPECT_EQ(plural("leaf"), "leaves");
  EXPECT_EQ(plural("chassis"), "chassis");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(10077696, "rank"), "10,077,696 ranks");
}

}  // namespace
}  // namespace rankloom
