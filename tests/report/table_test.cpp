// SPDX-License-Identifier: Apache-2.0
// tests of report: text tables.
#include "rankloom/report/terminal/table.hpp"

#include <algorithm>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Table, AlignsNumbersToTheRightAndLeavesNoBlanksAtTheEnd) {
  Table table({{"mapper"}, {"cost", Table::Align::right}, {""}});
  table.row({"greedy", "1,234", "best"});
  table.row({"block", "9"});
  EXPECT_EQ(table.text(unlimited_width), "  mapper   cost\n  greedy  1,234  best\n  block       9\n");
}

TEST(Table, CountsCharactersNotBytes) {
  Table table({{""}, {""}});
  table.row({"node ×2", "a"});
  table.row({"switch ab", "b"});
  EXPECT_EQ(table.text(unlimited_width, 0), "node ×2    a\nswitch ab  b\n");
  EXPECT_EQ(display_width("±µ…"), 3U);
}

TEST(Table, WithoutTitlesHasNoTitleLine) {
  Table table({{""}});
  table.row({"x"});
  EXPECT_EQ(table.text(unlimited_width, 1), " x\n");
}

TEST(Table, LeavesOutColumnsWithNothingInThem) {
  Table table({{""}, {""}, {""}});
  table.row({"a", "", "c"});
  table.row({"b", "", "d"});
  EXPECT_EQ(table.text(unlimited_width, 0), "a  c\nb  d\n");
}

TEST(Table, ContinuesTextsOnFurtherLinesWhenItIsTooWide) {
  Table table({{"mapper"}, {"cost", Table::Align::right}, {"why"}});
  table.row({"greedy", "1,234", "places the rank with the most traffic to placed ranks next"});
  table.row({"block", "9", "in order"});
  EXPECT_EQ(table.text(40),
            "  mapper   cost  why\n"
            "  greedy  1,234  places the rank with\n"
            "                 the most traffic to\n"
            "                 placed ranks next\n"
            "  block       9  in order\n");
}

TEST(Table, ContinuesTitlesAboveTheirNumbers) {
  Table table(
      {{"rank", Table::Align::right}, {"bytes passed by the program", Table::Align::right}, {"time on this node"}});
  table.row({"1", "2 kB", "3 s"});
  EXPECT_EQ(table.text(40),
            "        bytes passed by  time on this\n"
            "  rank      the program  node\n"
            "     1             2 kB  3 s\n");
}

TEST(Table, BreaksWordsThatAreTooLongAndIndentsNames) {
  Table table({{"mapper"}, {"cost", Table::Align::right}});
  table.row({"exec:/usr/local/share/mappers/place_them_all_near_each_other", "5"});
  EXPECT_EQ(table.text(40),
            "  mapper                            cost\n"
            "  exec:/usr/local/share/mappers/pl     5\n"
            "    ace_them_all_near_each_other\n");
}

TEST(Table, RepeatsTheFirstColumnWhenNumbersDoNotFit) {
  Table table(
      {{"mapping"}, {"bytes", Table::Align::right}, {"time", Table::Align::right}, {"hops", Table::Align::right}});
  table.row({"block", "100,000,000,000", "200,000,000", "3"});
  table.row({"auto", "1", "2", "3"});
  EXPECT_EQ(table.text(40),
            "  mapping            bytes         time\n"
            "  block    100,000,000,000  200,000,000\n"
            "  auto                   1            2\n"
            "\n"
            "  mapping  hops\n"
            "  block       3\n"
            "  auto        3\n");
}

TEST(Table, NeverExceedsItsWidthAndLosesNothing) {
  const std::string name(300, 'n'), sentence = "one two three four five six seven eight nine ten eleven twelve";
  Table table({{"a column with a long title"},
               {name + " in a title", Table::Align::right},
               {"remark"},
               {"", Table::Align::right},
               {"ééééé"}});
  table.row({name, name, sentence, "5", "µ\x1b[2J"});
  table.row({sentence, "1,234,567", "", "", "\xff\xfe"});
  table.row({"    " + name});
  const std::string wide = table.text(unlimited_width);
  for (const std::size_t width : {1, 40, 41, 60, 80, 99, 100, 137, 300}) {
    const std::string text = table.text(width);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(display_width(line), std::max(width, min_width)) << line;
    for (const char letter : {'5', '7', '['})  // not in the first column, which is repeated
      EXPECT_EQ(std::count(text.begin(), text.end(), letter), std::count(wide.begin(), wide.end(), letter)) << width;
    EXPECT_GE(std::count(text.begin(), text.end(), 'n'), std::count(wide.begin(), wide.end(), 'n')) << width;
  }
}

TEST(Table, HasTheSameTextAtEveryWidthThatSuffices) {
  Table table({{"a"}, {"b", Table::Align::right}});
  table.row({std::string(90, 'x'), "123456"});
  EXPECT_EQ(table.text(100), table.text(unlimited_width));
  EXPECT_NE(table.text(99), table.text(unlimited_width));
}

TEST(Wrap, BreaksAtBlanks) {
  EXPECT_THAT(wrap("one two three", 7), ::testing::ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("unbreakable a", 4), ::testing::ElementsAre("unbreakable", "a"));
  EXPECT_THAT(wrap("", 4), ::testing::ElementsAre(""));
}

TEST(Table, ANumberStaysNextToItsUnit) {
  Table table({{"limited by"}});
  table.row({"transfer from rank 0 to rank 3: 3 MB in 30 ms"});
  EXPECT_EQ(table.text(44, 0),
            "limited by\n"
            "transfer from rank 0 to rank 3: 3 MB in\n"
            "  30 ms\n");
}

}  // namespace
}  // namespace rankloom
