// SPDX-License-Identifier: Apache-2.0
// core/text: reading numbers from text.
#include "rankloom/core/text/scanner.hpp"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <sstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/core/text/number_lines.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A copy in memory of exactly this size, so that a sanitizer detects every read beyond the end.
class Exact {
 public:
  explicit Exact(std::string_view text) : memory_(new char[text.size()]), size_(text.size()) {
    text.copy(memory_.get(), size_);
  }
  std::string_view view() const { return {memory_.get(), size_}; }

 private:
  std::unique_ptr<char[]> memory_;
  std::size_t size_;
};

std::optional<std::uint64_t> integer(std::string_view text) {
  const Exact exact(text);
  Scanner in(exact.view());
  std::uint64_t value = 0;
  if (in.take_integer(value)) return value;
  EXPECT_EQ(in.position(), exact.view().data()) << "a failed take_… must not move the scanner";
  return std::nullopt;
}

std::optional<double> number(std::string_view text) {
  const Exact exact(text);
  Scanner in(exact.view());
  double value = 0;
  if (in.take_number(value)) return value;
  EXPECT_EQ(in.position(), exact.view().data()) << "a failed take_… must not move the scanner";
  return std::nullopt;
}

TEST(Scanner, TakesTokensUpToWhiteSpace) {
  Scanner in("send 7\tx\n");
  EXPECT_EQ(in.take_token(), "send");
  EXPECT_EQ(in.take_token(), "") << "at a blank";
  in.skip_blanks();
  EXPECT_EQ(in.take_token(), "7");
  in.skip_blanks();
  EXPECT_EQ(in.take_token(), "x");
  EXPECT_TRUE(in.at_line_end());
  in.skip_space();
  EXPECT_EQ(in.take_token(), "");
  EXPECT_TRUE(in.done());
}

TEST(Scanner, TakesIntegersOfAnyLength) {
  EXPECT_EQ(integer("0"), 0u);
  EXPECT_EQ(integer("7"), 7u);
  EXPECT_EQ(integer("0000123"), 123u);
  EXPECT_EQ(integer("1234567 "), 1234567u);
  EXPECT_EQ(integer("12345678 "), 12345678u);
  EXPECT_EQ(integer("123456789\n"), 123456789u);
  EXPECT_EQ(integer("18446744073709551615"), UINT64_MAX);
  std::uint64_t value = 0;
  for (std::uint64_t digit = 1; digit < 20; ++digit) {
    value = value * 10 + digit % 10;
    for (const char* after : {"", " ", ",5", "\r\n", "        "})
      EXPECT_EQ(integer(std::to_string(value) + after), value) << value << after;
  }
}

TEST(Scanner, RejectsWhatIsNotAnInteger) {
  for (const char* text : {"", " 1", "-1", "+1", "1.5", "1e3", "12a", "a", "18446744073709551616",
                           "99999999999999999999999", "1234567x", "12345678x"}) {
    EXPECT_EQ(integer(text), std::nullopt) << text;
  }
}

TEST(Scanner, TakesDecimalsAndExponents) {
  EXPECT_EQ(number("0"), 0.0);
  EXPECT_EQ(number("12.5"), 12.5);
  EXPECT_EQ(number("-0.125"), -0.125);
  EXPECT_EQ(number("+3"), 3.0);
  EXPECT_EQ(number(".5"), 0.5);
  EXPECT_EQ(number("5."), 5.0);
  EXPECT_EQ(number("1e3,"), 1000.0);
  EXPECT_EQ(number("+1E-3"), 0.001);
  EXPECT_EQ(number("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number("9007199254740993"), 9007199254740992.0) << "halfway cases round to even";
  EXPECT_EQ(number("0.1000000000000000055511151231257827021181583404541015625"), 0.1);
}

TEST(Scanner, RejectsWhatIsNotAFiniteNumber) {
  for (const char* text : {"", "-", "+", ".", "nan", "inf", "-inf", "1e", "1e999", "1..2", "1.2.3", "0x10", "1e5x",
                           "--1", "+-1", "e5", "1_000", "12;"}) {
    EXPECT_EQ(number(text), std::nullopt) << text;
  }
}

TEST(Scanner, RoundsLikeTheStandardLibrary) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::ostringstream text;
    text.precision(static_cast<int>(1 + random.below(18)));
    if (random.below(2) == 0) text << std::fixed;
    const double scale = std::pow(10.0, static_cast<double>(random.below(30)) - 15);
    text << random.unit() * scale;
    ASSERT_EQ(number(text.str()), std::stod(text.str())) << text.str();
  }
}

TEST(Scanner, CountsLinesWithEveryKindOfLineEnd) {
  Scanner in("1 2\r\n\r\n\t3 4\n5");
  std::vector<std::vector<std::uint64_t>> lines(1);
  while (!in.done()) {
    in.skip_blanks();
    std::uint64_t value = 0;
    if (in.at_line_end()) {
      if (in.take('\n')) lines.emplace_back();
    } else if (in.take_integer(value)) {
      lines.back().push_back(value);
    } else {
      FAIL() << in.token_for_message();
    }
  }
  EXPECT_THAT(lines, ElementsAre(ElementsAre(1, 2), IsEmpty(), ElementsAre(3, 4), ElementsAre(5)));
  EXPECT_EQ(in.line(), 4u);
}

TEST(Scanner, TakesWholeLines) {
  Scanner in("one\r\n\ntwo");
  EXPECT_EQ(in.take_line(), "one");
  EXPECT_EQ(in.line(), 2u);
  EXPECT_EQ(in.take_line(), "");
  EXPECT_EQ(in.take_line(), "two");
  EXPECT_TRUE(in.done());
  EXPECT_EQ(in.take_line(), "");
}

TEST(Scanner, MakesTokensPrintableForMessages) {
  EXPECT_EQ(Scanner("abc def").token_for_message(), "abc");
  EXPECT_EQ(Scanner("").token_for_message(), "nothing");
  EXPECT_EQ(Scanner("\n1").token_for_message(), "nothing");
  EXPECT_EQ(Scanner(",1").token_for_message(), ",1");
  EXPECT_EQ(Scanner("a\x80\x7f").token_for_message(), "a??");
  EXPECT_EQ(Scanner(std::string(1000, 'x')).token_for_message(), std::string(32, 'x') + "…");
}

struct Split {
  bool good = false;
  std::vector<std::uint32_t> numbers, line_ends;
};

Split split(std::string_view text) {
  const Exact exact(text);
  NumberLines lines;
  Split result;
  result.good = lines.split(exact.view());
  result.numbers.assign(lines.numbers().begin(), lines.numbers().end());
  result.line_ends.assign(lines.line_ends().begin(), lines.line_ends().end());
  return result;
}

TEST(NumberLines, SplitsNumbersAndLines) {
  const Split result = split("1 22\t333\r\n\n  4444444\n5");
  EXPECT_TRUE(result.good);
  EXPECT_THAT(result.numbers, ElementsAre(1, 22, 333, 4444444, 5));
  EXPECT_THAT(result.line_ends, ElementsAre(3, 3, 4, 5));
  EXPECT_THAT(split("").line_ends, IsEmpty());
  EXPECT_THAT(split("\n\n").line_ends, ElementsAre(0, 0));
  EXPECT_THAT(split("1\n  ").line_ends, ElementsAre(1)) << "blanks after the last line do not make a line";
}

TEST(NumberLines, RejectsEverythingElse) {
  for (const char* text : {"-1", "1.5", "%", "a", "1,2", "12345678", "99999999999999999999", "1e3", "\x80", "1\v2"}) {
    EXPECT_FALSE(split(text).good) << text;
    for (std::size_t shift = 50; shift < 80; ++shift)
      EXPECT_FALSE(split(std::string(shift, ' ') + text + " 1").good) << text << " at " << shift;
  }
  EXPECT_FALSE(split(std::string("1 \0 2", 5)).good);
}

TEST(NumberLines, ClassifiesCharactersEquallyWithAndWithoutVectorInstructions) {
  constexpr std::string_view alphabet = "0123456789 \t\r\n/:;%-a\x80\xff";
  Random random(4);
  for (int round = 0; round < 2000; ++round) {
    char text[64];
    const std::size_t kinds = round % 2 == 0 ? 14 : alphabet.size();
    for (char& c : text) c = alphabet[random.below(kinds)];
    const auto fast = scan::character_bits(text), plain = scan::plain_character_bits(text);
    ASSERT_EQ(fast.digits, plain.digits);
    ASSERT_EQ(fast.line_ends, plain.line_ends);
    ASSERT_EQ(fast.all_known, plain.all_known);
  }
}

TEST(NumberLines, EqualsScanner) {
  Random random(3);
  NumberLines lines;  // used again for texts of all lengths
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    std::vector<std::uint32_t> numbers, line_ends;
    const std::size_t count = random.below(60);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value =
          static_cast<std::uint32_t>(random.below(static_cast<std::uint64_t>(std::pow(10, 1 + random.below(7)))));
      text += std::to_string(value);
      numbers.push_back(value);
      const std::size_t after = random.below(4);
      text += after == 0 ? "\n" : after == 1 ? "  " : " ";
      if (after == 0) line_ends.push_back(static_cast<std::uint32_t>(numbers.size()));
    }
    if (numbers.size() > (line_ends.empty() ? 0 : line_ends.back()))
      line_ends.push_back(static_cast<std::uint32_t>(numbers.size()));
    ASSERT_TRUE(lines.split(text));
    ASSERT_EQ(std::vector(lines.numbers().begin(), lines.numbers().end()), numbers) << text;
    ASSERT_EQ(std::vector(lines.line_ends().begin(), lines.line_ends().end()), line_ends) << text;
  }
}

}  // namespace
}  // namespace rankloom
