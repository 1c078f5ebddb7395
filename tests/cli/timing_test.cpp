// SPDX-License-Identifier: Apache-2.0
#include "apps/rankloom/verbs/mapping/timing.hpp"

#include <gtest/gtest.h>

namespace rankloom::app {
namespace {

const SectionTime mapping{
    "mapping", 1, 2, {{"multisection", 3, 1.5, {{"coarsening", 40, 1.2, {}}}}, {"repair", 2, 0.004, {}}}};

TEST(Timing, PartsAreIndentedAndSmallOnesLeftOut) {
  EXPECT_EQ(timing_text(mapping, unlimited_width),
            "  section         CPU time, all threads    share  runs\n"
            "  mapping                           2 s  100.0 %     1\n"
            "    multisection                  1.5 s   75.0 %     3\n"
            "      coarsening                  1.2 s   60.0 %    40\n"
            "      other                      300 ms   15.0 %\n"
            "    other                        500 ms   25.0 %\n");
}

TEST(Timing, AMapperThatTookNoTimeHasOneRow) {
  const std::string text = timing_text({"mapping", 1, 0, {}}, unlimited_width);
  EXPECT_NE(text.find("100.0 %"), std::string::npos) << text;
}

TEST(Timing, JsonHasAllParts) {
  const Json json = timing_json(mapping);
  EXPECT_EQ(json["section"], "mapping");
  EXPECT_EQ(json["cpu_seconds"], 2);
  ASSERT_EQ(json["parts"].size(), 2U);
  EXPECT_EQ(json["parts"][0]["parts"][0]["runs"], 40);
  EXPECT_EQ(json["parts"][1]["section"], "repair");
  EXPECT_TRUE(json["parts"][1]["parts"].empty());
}

}  // namespace
}  // namespace rankloom::app
