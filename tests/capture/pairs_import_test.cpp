// SPDX-License-Identifier: Apache-2.0
// tests: reading and writing traffic as one line per pair.
#include <fmt/format.h>

#include "tests/capture/import_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using ::testing::ElementsAre;
using testing::error_as;
using testing::expect_equal;
using ::testing::HasSubstr;
using testing::read_as;
using testing::write_as;

TEST(PairsImport, ReadsBytesMessagesAndExpandedCollectives) {
  const Profile profile =
      read_as("pairs", "# an app; MPI; ranks=4; columns: …\n0 1 100 2 8 1\n1 0 0 3 0 0\n2 2 5 1 0 0\n0 3 0 0 0 1\n")
          .profile;
  EXPECT_EQ(profile.rank_count(), 4u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 1}, 100}, {{1, 0}, 0}, {{2, 2}, 5}}));
  EXPECT_THAT(profile.point_to_point.messages(Rank{0}), ElementsAre(2));
  EXPECT_EQ(edges_of(profile.expanded_collectives), (Edges{{{0, 1}, 8}, {{0, 3}, 0}}));
  EXPECT_THAT(profile.expanded_collectives.messages(Rank{0}), ElementsAre(1, 1));
  EXPECT_EQ(profile.origin.at("program"), "an app");
}

TEST(PairsImport, ReadsThreeAndFourColumns) {
  const Profile three = read_as("pairs", "0 1 100\n1 2 0\n").profile;
  EXPECT_EQ(three.rank_count(), 3u) << "the largest rank tells";
  EXPECT_EQ(edges_of(three.point_to_point), (Edges{{{0, 1}, 100}, {{1, 2}, 0}}));
  EXPECT_FALSE(three.point_to_point.has_messages());
  EXPECT_EQ(three.expanded_collectives.rank_count(), 0u);
  const Profile four = read_as("pairs", "# ranks=9\n0 1 100 7\r\n1 2 2.5 1").profile;
  EXPECT_EQ(four.rank_count(), 9u);
  EXPECT_EQ(four.point_to_point.total_messages(), 8);
}

TEST(PairsImport, AddsUpLinesOfTheSamePair) {
  const Profile profile = read_as("pairs", "0 1 100 7\n0 1 11 1\n").profile;
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 1}, 111}}));
  EXPECT_EQ(profile.point_to_point.total_messages(), 8);
}

TEST(PairsImport, AcceptsRanksWithoutTraffic) {
  EXPECT_EQ(read_as("pairs", "# ranks=1").profile.rank_count(), 1u);
  EXPECT_EQ(read_as("", "# an idle program; ranks=64; columns: src dst bytes\n").profile.rank_count(), 64u);
}

TEST(PairsImport, ChecksTotals) {
  const std::string head = "# app; ranks=3\n# totals 150 5 8 1; calls Send=5\n";
  read_as("pairs", head + "0 1 100 2 8 1\n1 2 50 3 0 0\n");
  const Error error = error_as("pairs", head + "0 1 100 2 8 1\n");
  EXPECT_EQ(error.where.line, 2u);
  EXPECT_THAT(error.what, HasSubstr("the sum of the lines is 100 bytes, but the totals say 150"));
  EXPECT_THAT(error.hint, HasSubstr("truncated"));
}

TEST(PairsImport, ReadsTheMeasuredMatrices) {
  struct Expected {
    const char* name;
    std::uint32_t ranks;
    double bytes, messages, collective_bytes, collective_messages;
  };
  const Expected files[] = {
      {"cg.W.8", 8, 139886592, 23552, 56, 31},
      {"lammps.lj.32", 32, 462208112, 41856, 128463, 13586},
      {"openfoam.cavity3d.64", 64, 536839585, 825790, 7627008, 953664},
      {"lu.A.64", 64, 378043904, 367724, 97200, 5175},
      {"bt.A.64", 64, 942896640, 64896, 33240, 1914},
      {"cg.A.128", 128, 1867218944, 700416, 1016, 1023},
      {"sp.A.144", 144, 1157747712, 218592, 78816, 4732},
  };
  for (const Expected& expected : files) {
    const auto file = read_file(testing::test_data(fmt::format("matrices/{}.txt", expected.name)));
    ASSERT_TRUE(file) << to_string(file.error());
    const auto imported = import_profile(*file);
    ASSERT_TRUE(imported) << to_string(imported.error());
    EXPECT_EQ(imported->format, "pairs");
    const Profile& profile = imported->profile;
    EXPECT_EQ(profile.rank_count(), expected.ranks);
    EXPECT_EQ(profile.point_to_point.total_bytes(), expected.bytes);
    EXPECT_EQ(profile.point_to_point.total_messages(), expected.messages);
    EXPECT_EQ(profile.expanded_collectives.total_bytes(), expected.collective_bytes);
    EXPECT_EQ(profile.expanded_collectives.total_messages(), expected.collective_messages);
    const auto text = write_as("pairs", profile);
    ASSERT_TRUE(text);
    const Profile back = read_as("", *text).profile;
    expect_equal(back.point_to_point, profile.point_to_point);
    expect_equal(back.expanded_collectives, profile.expanded_collectives);
    EXPECT_EQ(back.origin.at("program"), profile.origin.at("program"));
  }
}

TEST(PairsImport, ReportsTheErrorAndItsLine) {
  testing::expect_errors("pairs", {
                                      {"# ranks=0\n", 1, "the number of ranks is 0"},
                                      {"# ranks=4000000000\n0 1 5\n", 1, "4000000000 ranks in a file of"},
                                      {"# ranks=99999999999999999999999\n0 1 5\n", 1, "too many"},
                                      {"# no number of ranks\n", 1, "the number of ranks is 0"},
                                      {"0 4000000000 5\n", 1, "4000000001 ranks in a file of"},
                                      {"0 18446744073709551615 5\n", 1, "\"18446744073709551615\" is not a rank"},
                                      {"# ranks=2\n0 1 5\n0 2 5\n", 3, "rank 2 is not in 0..1"},
                                      {"# ranks=2\n0 1 5\n0 1\n", 3, "2 columns, but the lines before have 3"},
                                      {"# ranks=2\n0 1\n", 2, "2 columns"},
                                      {"# ranks=2\n0 1 2 3 4\n", 2, "5 columns"},
                                      {"# ranks=2\n0 1 2 3 4 5 6\n", 2, "more than 6"},
                                      {"# ranks=2\n0 x 5\n", 2, "\"x\" is not a rank"},
                                      {"# ranks=2\n-1 0 5\n", 2, "\"-1\" is not a rank"},
                                      {"# ranks=2\n0 1.0 5\n", 2, "\"1.0\" is not a rank"},
                                      {"# ranks=2\n0 1 -5\n", 2, "the number of bytes is negative"},
                                      {"# ranks=2\n0 1 5 -5\n", 2, "the number of messages is negative"},
                                      {"# ranks=2\n0 1 1e200\n", 2, "too large"},
                                      {"# ranks=2\n0 1 9e99\n0 1 9e99\n", 0, "the traffic of a pair of ranks is"},
                                      {"# ranks=2\n0 1 nan\n", 2, "is not a finite number: \"nan\""},
                                      {"# ranks=2\n0 1 5 # good\n", 2, "is not a finite number: \"#\""},
                                  });
}

TEST(PairsExport, WritesTheKnownColumns) {
  CommGraphBuilder weights(2), counts(2);
  weights.add(Rank{0}, Rank{1}, 2.5);
  counts.add(Rank{1}, Rank{0}, 8, 2);
  Profile profile = testing::profile_of(std::move(weights).build(false));
  EXPECT_EQ(write_as("pairs", profile),
            "# traffic; ranks=2; columns: src dst p2p_bytes\n# totals 2.5 0 0 0\n0 1 2.5\n");
  profile.expanded_collectives = std::move(counts).build(true);
  EXPECT_EQ(write_as("pairs", profile),
            "# traffic; ranks=2; columns: src dst p2p_bytes p2p_msgs coll_bytes coll_msgs\n# totals 2.5 1 8 2\n0 1 2.5 "
            "1 0 0\n1 0 0 0 8 2\n");
}

}  // namespace
}  // namespace rankloom
