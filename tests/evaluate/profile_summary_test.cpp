// SPDX-License-Identifier: Apache-2.0
#include "rankloom/evaluate/profile_summary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

Profile small_profile() {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 100, 2);
  builder.add(Rank{1}, Rank{0}, 50, 1);
  builder.add(Rank{2}, Rank{1}, 150, 3);
  builder.add(Rank{2}, Rank{2}, 7, 1);
  Profile profile;
  profile.point_to_point = std::move(builder).build(true);
  profile.communicators = {{"world", {}}};
  profile.collectives = {{.communicator = 0, .op = CollectiveOp::bcast, .root = 0, .bytes = 10, .count = 2}};
  return profile;
}

TEST(ProfileSummary, CountsEachPairOnceAndSelfMessagesSeparately) {
  const auto summary = summarise(small_profile(), CollectiveModel::none, 10);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->between_ranks.bytes, 300);
  EXPECT_EQ(summary->between_ranks.messages, 6);
  EXPECT_EQ(summary->to_itself.bytes, 7);
  EXPECT_EQ(summary->pairs, 2u);
  EXPECT_EQ(summary->ranks_without_partners, 1u);
  EXPECT_EQ(summary->max_partners, 2u);
  EXPECT_EQ(summary->mean_partners, 1);
  EXPECT_EQ(summary->collectives.bytes, 0);
}

TEST(ProfileSummary, AddsCollectivesAccordingToTheModel) {
  const auto summary = summarise(small_profile(), CollectiveModel::logical, 10);
  EXPECT_EQ(summary->collectives.bytes, 60);  // the root to each of three, twice
  ASSERT_EQ(summary->operations.size(), 1u);
  EXPECT_EQ(summary->operations[0].calls, 2);
  EXPECT_EQ(summary->operations[0].bytes, 20);
  EXPECT_EQ(summary->heaviest[0].a, Rank{0});  // 150 and 20 of the broadcast, before 150
  EXPECT_EQ(summary->heaviest[0].volume.bytes, 170);
}

TEST(ProfileSummary, AddsUpTheCallsOfEveryGroup) {
  Profile profile = small_profile();
  profile.communicators.push_back({"pair", {Rank{1}, Rank{3}}});
  profile.collectives.push_back({.communicator = 1, .op = CollectiveOp::allreduce, .root = 0, .bytes = 30, .count = 2});
  profile.collectives.push_back({.communicator = 1, .op = CollectiveOp::allreduce, .root = 0, .bytes = 5, .count = 1});
  profile.collectives.push_back({.communicator = 1, .op = CollectiveOp::bcast, .root = 0, .bytes = 1, .count = 1});
  const auto summary = summarise(profile, CollectiveModel::none, 2);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->groups.size(), 2u) << "the largest";
  EXPECT_EQ(summary->groups[0].communicator, 1u);
  EXPECT_EQ(summary->groups[0].op, CollectiveOp::allreduce);
  EXPECT_EQ(summary->groups[0].calls, 3);
  EXPECT_EQ(summary->groups[0].bytes, 65);
  EXPECT_EQ(summary->groups[1].communicator, 0u);
  EXPECT_EQ(summary->groups[1].bytes, 20);
}

TEST(ProfileSummary, ListsTheHeaviestPairsLikeACompleteSort) {
  Random random(3);
  CommGraphBuilder builder(30);
  for (int edge = 0; edge < 300; ++edge) {
    builder.add(Rank{static_cast<std::uint32_t>(random.below(30))}, Rank{static_cast<std::uint32_t>(random.below(30))},
                static_cast<double>(random.below(20)));
  }
  Profile profile;
  profile.point_to_point = std::move(builder).build(true);
  const auto all = summarise(profile, CollectiveModel::none, 1000);
  const auto few = summarise(profile, CollectiveModel::none, 7);
  ASSERT_EQ(all->heaviest.size(), all->pairs);
  ASSERT_EQ(few->heaviest.size(), 7u);
  double bytes = 0;
  for (std::size_t at = 0; at < all->heaviest.size(); ++at) {
    bytes += all->heaviest[at].volume.bytes;
    if (at > 0) {
      EXPECT_GE(all->heaviest[at - 1].volume.bytes, all->heaviest[at].volume.bytes);
    }
    if (at < 7) {
      EXPECT_EQ(few->heaviest[at].a, all->heaviest[at].a);
      EXPECT_EQ(few->heaviest[at].b, all->heaviest[at].b);
    }
  }
  EXPECT_EQ(bytes, all->between_ranks.bytes);
}

TEST(ProfileSummary, ReportsTheShareOfTimeInMpi) {
  Profile profile = small_profile();
  EXPECT_FALSE(summarise(profile, CollectiveModel::none, 1)->time);
  profile.activity = {{1, 3, 0}, {2, 2, 0}, {0, 4, 0}, {3, 1, 0}};
  const auto time = summarise(profile, CollectiveModel::none, 1)->time;
  ASSERT_TRUE(time);
  EXPECT_DOUBLE_EQ(time->share(), 6.0 / 16);
  EXPECT_EQ(time->min_share, 0);
  EXPECT_EQ(time->max_share, 0.75);
}

TEST(ProfileSummary, ExtractsAPhaseByItsNumberOrName) {
  Profile profile = small_profile();
  EXPECT_FALSE(extract_phase(profile, "1"));
  profile.phases = {{"solve", 0, 1, profile.point_to_point, profile.point_to_point, profile.collectives},
                    {"write", 1, 2, std::move(CommGraphBuilder(4)).build(true), {}, {}}};
  EXPECT_EQ(extract_phase(profile, "solve")->expanded_collectives.edge_count(), profile.point_to_point.edge_count());
  EXPECT_EQ(extract_phase(profile, "solve")->collectives.size(), 1u);
  EXPECT_EQ(extract_phase(profile, "2")->point_to_point.edge_count(), 0u);
  const auto missing = extract_phase(profile, "3");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().hint, ::testing::HasSubstr("1 to 2"));
}

}  // namespace
}  // namespace rankloom
