// SPDX-License-Identifier: Apache-2.0
// tests: text for the terminal.
#include "rankloom/core/text/control_characters.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(ControlCharacters, AreShownAndDoNotReachTheTerminal) {
  EXPECT_EQ(without_controls("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(without_controls(std::string_view("\0\r\x7f", 3)), "\\x00\\x0d\\u007f");
  EXPECT_EQ(without_controls("\xc2\x9b"
                             "2J"),
            "\\u009b2J")
      << "CSI in one character";
  EXPECT_EQ(without_controls("b\xe2\x80\xae"
                             "c"),
            "b\\u202ec")
      << "right-to-left override";
}

TEST(ControlCharacters, NewlinesAndTabsStayInTextOfSeveralLines) {
  EXPECT_EQ(without_controls("a\n\tb"), "a\\x0a\\x09b");
  EXPECT_EQ(lines_without_controls("a\n\tb\r\n"), "a\n\tb\\x0d\n");
}

TEST(ControlCharacters, OtherTextStaysAsItIs) {
  const std::string text = "node ä € 𝄞 └─ × µs … \xc2\xa0|";
  EXPECT_EQ(without_controls(text), text);
  EXPECT_EQ(without_controls(""), "");
}

TEST(ControlCharacters, BytesThatAreNotUtf8AreReplaced) {
  const std::string replaced = "\xef\xbf\xbd";
  EXPECT_EQ(without_controls("a\xff"), "a" + replaced);
  EXPECT_EQ(without_controls("\x9b"), replaced);
  EXPECT_EQ(without_controls("\xe2\x82"), replaced);
  EXPECT_EQ(without_controls("\xe2\x82x"), replaced + "x");
  EXPECT_EQ(without_controls("\xc0\x80"), replaced + replaced) << "an overlong zero";
  EXPECT_EQ(without_controls("\xed\xa0\x80"), replaced + replaced + replaced) << "a surrogate";
  EXPECT_EQ(without_controls("\xf4\x90\x80\x80"), replaced + replaced + replaced + replaced);
}

}  // namespace
}  // namespace rankloom
