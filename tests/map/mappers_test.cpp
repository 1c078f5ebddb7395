// SPDX-License-Identifier: Apache-2.0
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/map/mapper.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

TEST(Mappers, HaveDistinctNamesSummariesAndReferences) {
  std::set<std::string_view> names;
  for (const MapperInfo& row : mappers()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_FALSE(row.reference.empty()) << row.name;
    EXPECT_NE(row.make(), nullptr);
    EXPECT_EQ(find_mapper(row.name), &row);
  }
  EXPECT_EQ(find_mapper("unknown"), nullptr);
}

TEST(Mappers, AcceptOptionsAfterAColon) {
  const auto made = make_mapper("pair-exchange:tries=1000,order=turn");
  ASSERT_TRUE(made);
  EXPECT_EQ(made->info->name, "pair-exchange");
  EXPECT_EQ(made->spec, "pair-exchange:tries=1000,order=turn");
}

TEST(Mappers, SuggestTheMostSimilarNameForAnUnknownOne) {
  const auto made = make_mapper("greddy");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, Code::usage);
  EXPECT_THAT(made.error().what, HasSubstr("greddy"));
  EXPECT_THAT(made.error().hint, HasSubstr("greedy"));
}

TEST(Mappers, RejectUnknownOptions) {
  const auto unknown = make_mapper("mpipp:tries=3");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::usage);
  EXPECT_THAT(unknown.error().hint, HasSubstr("restarts"));
  EXPECT_FALSE(make_mapper("mpipp:restarts=0"));
  EXPECT_FALSE(make_mapper("pair-exchange:order=sideways"));
}

}  // namespace
}  // namespace rankloom
