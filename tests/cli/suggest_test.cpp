// SPDX-License-Identifier: Apache-2.0
// tests of apps: the nearest known word.
#include "apps/rankloom/suggest.hpp"

#include <gtest/gtest.h>

namespace rankloom::app {
namespace {

const std::vector<std::string> words{"map", "eval", "compare", "completion", "pair-exchange"};

TEST(Suggest, FindsOneSlipOfTheFinger) {
  EXPECT_EQ(nearest("mop", words), "map");
  EXPECT_EQ(nearest("evl", words), "eval");
  EXPECT_EQ(nearest("comprae", words), "compare");
}

TEST(Suggest, FindsAWordByItsBeginning) {
  EXPECT_EQ(nearest("pair", words), "pair-exchange");
}

TEST(Suggest, DoesNotGuessWildly) {
  EXPECT_EQ(nearest("xyz", words), std::nullopt);
  EXPECT_EQ(nearest(std::string(5000, 'a'), words), std::nullopt);
  EXPECT_EQ(did_you_mean("xyz", words, "rankloom --help"), "rankloom --help");
}

}  // namespace
}  // namespace rankloom::app
