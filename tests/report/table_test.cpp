// SPDX-License-Identifier: Apache-2.0
// tests of report: text tables.
#include "rankloom/report/terminal/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Table, AlignsNumbersToTheRightAndLeavesNoBlanksAtTheEnd) {
  Table table({{"mapper"}, {"cost", Table::Align::right}, {""}});
  table.row({"greedy", "1,234", "best"});
  table.row({"block", "9"});
  EXPECT_EQ(table.text(), "  mapper   cost\n  greedy  1,234  best\n  block       9\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{""}, {""}});
  table.row({"node ×2", "a"});
  table.row({"switch ab", "b"});
  EXPECT_EQ(table.text(0), "node ×2    a\nswitch ab  b\n");
  EXPECT_EQ(display_width("±µ…"), 3U);
}

TEST(Table, WithoutTitlesHasNoTitleLine) {
  Table table({{""}});
  table.row({"x"});
  EXPECT_EQ(table.text(1), " x\n");
}

TEST(Table, LeavesOutColumnsWithNothingInThem) {
  Table table({{""}, {""}, {""}});
  table.row({"a", "", "c"});
  table.row({"b", "", "d"});
  EXPECT_EQ(table.text(0), "a  c\nb  d\n");
}

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_THAT(wrap("one two three", 7), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("unbreakable a", 4), ::testing::ElementsAre("unbreakable", "a"));
  EXPECT_THAT(wrap("", 4), ::testing::ElementsAre(""));
}

}  // namespace
}  // namespace rankloom
