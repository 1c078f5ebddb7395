// SPDX-License-Identifier: Apache-2.0
// tests: sizes of memory.
#include "rankloom/core/text/binary_size.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(BinarySize, ReadsUnitsAsPowersOf1024) {
  EXPECT_EQ(parse_binary_size("0"), 0u);
  EXPECT_EQ(parse_binary_size("8192"), 8192u);
  EXPECT_EQ(parse_binary_size("64k"), 65536u);
  EXPECT_EQ(parse_binary_size("64K"), 65536u);
  EXPECT_EQ(parse_binary_size("64M"), 64u << 20);
  EXPECT_EQ(parse_binary_size("3g"), std::uint64_t{3} << 30);
}

TEST(BinarySize, RefusesEverythingElse) {
  for (const char* const text :
       {"", " ", "64 M", " 64M", "64M ", "M", "64MB", "64MiB", "64T", "-1", "+1", "1.5G", "1e3", "0x10", "64\t"})
    EXPECT_EQ(parse_binary_size(text), std::nullopt) << text;
  EXPECT_EQ(parse_binary_size(std::string_view("64\0", 3)), std::nullopt);
}

TEST(BinarySize, DoesNotOverflow) {
  constexpr std::uint64_t max = std::uint64_t{1} << 63;
  EXPECT_EQ(parse_binary_size("18446744073709551616"), max);
  EXPECT_EQ(parse_binary_size("99999999999999999999999999"), max);
  EXPECT_EQ(parse_binary_size("17179869184G"), max);
  EXPECT_EQ(parse_binary_size("8589934591G"), std::uint64_t{8589934591} << 30);
}

}  // namespace
}  // namespace rankloom
