// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/text/split.hpp"

#include <gmock/gmock.h>

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Split, KeepsEmptyPartsExceptAtTheEnd) {
  EXPECT_THAT(split("a,b,,c", ','), ElementsAre("a", "b", "", "c"));
  EXPECT_THAT(split(",a\n,", ','), ElementsAre("", "a\n"));
  EXPECT_THAT(split("one line\n", '\n'), ElementsAre("one line"));
  EXPECT_THAT(split("", ','), IsEmpty());
}

}  // namespace
}  // namespace rankloom
