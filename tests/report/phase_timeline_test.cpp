// SPDX-License-Identifier: Apache-2.0
#include "rankloom/report/terminal/phase_timeline.hpp"

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(PhaseTimeline, IsALineOfLettersWithMarksBelow) {
  EXPECT_EQ(phase_timeline({{0, 0, 0.5, 5, 1}, {1, 0.5, 1, 5, 2}}, {0.55}, 1, 10, 0), "AAAAABBBBB\n     ^\n");
}

TEST(PhaseTimeline, IsEmptyWithoutPhases) {
  EXPECT_EQ(phase_timeline({}, {}, 1), "");
}

}  // namespace
}  // namespace rankloom
