// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/text/suggest.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Suggest, ATypingMistakeSuggestsTheSimilarWord) {
  EXPECT_EQ(suggest("greddy", {"block", "greedy", "mpipp"}), "did you mean greedy?");
  EXPECT_EQ(suggest("pair", {"block", "pair-exchange"}), "did you mean pair-exchange?");
}

TEST(Suggest, AWordWithoutSimilarOnesListsAllWords) {
  EXPECT_EQ(suggest("xyzzy", {"block", "greedy"}), "one of: block, greedy");
}

TEST(Suggest, DistancesCountSingleEdits) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("same", "same"), 0U);
}

}  // namespace
}  // namespace rankloom
