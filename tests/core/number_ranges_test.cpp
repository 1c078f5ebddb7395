// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/text/number_ranges.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Optional;

std::string error_of(std::string_view text, std::uint32_t max = 100) {
  std::string error;
  return parse_number_ranges(text, max, &error) ? "none" : error;
}

TEST(NumberRangesTest, ReadsNumbersAndRangesInTheOrderOfTheText) {
  EXPECT_THAT(parse_number_ranges("0-3,8"), Optional(ElementsAre(0, 1, 2, 3, 8)));
  EXPECT_THAT(parse_number_ranges("8,0-1,8"), Optional(ElementsAre(8, 0, 1, 8)));
  EXPECT_THAT(parse_number_ranges("007-009"), Optional(ElementsAre(7, 8, 9)));
  EXPECT_THAT(parse_number_ranges(""), Optional(IsEmpty()));
  EXPECT_THAT(parse_number_ranges("4294967295", 4294967295U), Optional(ElementsAre(4294967295U)));
}

TEST(NumberRangesTest, SaysWhatIsWrong) {
  EXPECT_EQ(error_of("0-3,x"), "\"x\" is not a number or a range");
  EXPECT_EQ(error_of("3-"), "\"3-\" is not a number or a range");
  EXPECT_EQ(error_of("-3"), "\"-3\" is not a number or a range");
  EXPECT_EQ(error_of("7-3"), "\"7-3\" is not a number or a range");
  EXPECT_EQ(error_of("1-2-3"), "\"1-2-3\" is not a number or a range");
  EXPECT_EQ(error_of("1,,2"), "\"\" is not a number or a range");
  EXPECT_EQ(error_of("1,"), "\"\" is not a number or a range");
  EXPECT_EQ(error_of("1 "), "\"1 \" is not a number or a range");
  EXPECT_EQ(error_of("99-101"), "\"99-101\" is above the maximum of 100");
  EXPECT_EQ(error_of("0-100,0-100"), "\"0-100\" repeats earlier numbers");
  EXPECT_EQ(error_of("99999999999999999999999"), "\"99999999999999999999999\" is not a number or a range");
}

TEST(NumberRangesTest, ZeroDoesNotFollowTheLargestNumber) {
  EXPECT_EQ(format_number_ranges(std::vector<std::uint32_t>{4294967295U, 0}), "4294967295,0");
}

TEST(NumberRangesTest, KeepsTheNumberOfDigitsOfARange) {
  const auto range = parse_number_range("007-012");
  ASSERT_TRUE(range.has_value());
  EXPECT_EQ(range->first, 7U);
  EXPECT_EQ(range->last, 12U);
  EXPECT_EQ(range->digits, 3U);
  EXPECT_FALSE(parse_number_range("1,2").has_value());
}

TEST(NumberRangesTest, WritesConsecutiveNumbersAsRanges) {
  EXPECT_EQ(format_number_ranges(std::vector<std::uint32_t>{0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(format_number_ranges(std::vector<std::uint32_t>{8, 4, 5}), "8,4-5");
  EXPECT_EQ(format_number_ranges({}), "");
}

TEST(NumberRangesTest, ReadsBackWhatItWrites) {
  Random random(1);
  for (int i = 0; i < 100; ++i) {
    std::vector<std::uint32_t> numbers(random.below(20));
    for (std::uint32_t& number : numbers) number = static_cast<std::uint32_t>(random.below(30));
    EXPECT_EQ(parse_number_ranges(format_number_ranges(numbers)), numbers);
  }
}

}  // namespace
}  // namespace rankloom
