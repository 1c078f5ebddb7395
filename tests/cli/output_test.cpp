// SPDX-License-Identifier: Apache-2.0
// tests of apps: numbers in words, and quoting.
#include "apps/rankloom/output.hpp"

#include <gtest/gtest.h>

namespace rankloom::app {
namespace {

TEST(Output, ShowsWholeCostsExactlyAndOthersRounded) {
  EXPECT_EQ(cost_number(578), "578");
  EXPECT_EQ(cost_number(1234567), "1,234,567");
  EXPECT_EQ(cost_number(0.123456789), "0.123457");
  EXPECT_EQ(cost_number(1234.5678), "1,235");
  EXPECT_EQ(cost_number(2.5e20), "2.5e+20");
}

TEST(Output, ComputesGainsInTheDirectionOfTheModel) {
  EXPECT_DOUBLE_EQ(gain_percent(200, 150, false), 25);
  EXPECT_DOUBLE_EQ(gain_percent(200, 250, false), -25);
  EXPECT_DOUBLE_EQ(gain_percent(200, 250, true), 25);
  EXPECT_EQ(gain_percent(0, 0, false), 0);
  EXPECT_EQ(percent(-0.0001), "> -0.01 %");
}

TEST(Output, StatesTheDirectionOfAChange) {
  EXPECT_EQ(change(200, 150), "25.0 % less");
  EXPECT_EQ(change(200, 250), "25.0 % more");
  EXPECT_EQ(change(3, 3), "same");
  EXPECT_EQ(change(0, 3), "new");
}

TEST(Output, MakesPlurals) {
  EXPECT_EQ(plural("node"), "nodes");
  EXPECT_EQ(plural("switch"), "switches");
  EXPECT_EQ(plural("box"), "boxes");
}

TEST(Output, QuotesArgumentsForTheShell) {
  EXPECT_EQ(shell_quote("app.prof"), "app.prof");
  EXPECT_EQ(shell_quote("node:4=10 core:8"), "'node:4=10 core:8'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote(""), "''");
}

TEST(Output, ReplacesInvalidUtf8InJson) {
  EXPECT_EQ(to_line(Json{{"name", "a\xff"}}), "{\"name\":\"a\xef\xbf\xbd\"}\n");
}

}  // namespace
}  // namespace rankloom::app
