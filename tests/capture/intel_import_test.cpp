// SPDX-License-Identifier: Apache-2.0
// tests: the reports of Intel's tools. The files are written by hand after Intel's manuals, because the tools are not
// available here.
#include <gtest/gtest.h>

#include "tests/capture/import_support.hpp"
#include "tests/capture/trace_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using testing::read_path;

const std::string statistics = testing::test_data("traces/handmade/intel-mpi.txt");
const std::string snapshot = testing::test_data("traces/handmade/aps.txt");

TEST(IntelMpi, ReadsBytesAndTransfers) {
  const Profile profile = read_path(statistics).profile;
  EXPECT_EQ(profile.rank_count(), 3u);
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 1}, 8}, {{0, 2}, 1 << 20}, {{1, 0}, 8}, {{2, 2}, 4}}));
  EXPECT_EQ(profile.point_to_point.total_messages(), 21);
}

TEST(IntelMpi, ReportsTheErrorAndItsLine) {
  const std::string head = "~~~~ Process 0 of 1 on node a\n\nData Transfers\nSrc Dst Amount(MB) Transfers\n";
  testing::expect_errors(
      "intel-mpi", {
                       {"Data Transfers\n", 2, "no line"},
                       {head + "000 --> 000 1.0 1\n", 6, "before the totals"},
                       {head + "000 --> 000 1.0 1\nTotals 2.0 1\n", 6, "is 1 MB, but the totals say 2 MB"},
                       {head + "000 --> 000 x 1\n", 5, "\"x\""},
                       {head + "000 --> 004 1.0 1\nTotals 1.0 1\n", 7, "rank 4 occurs, but there are 1 processes"},
                       {"~~~~ Process 0 of 2 on node a\nData Transfers\n", 3, "process 1 of 2"},
                       {"~~~~ Process 2 of 2 on node a\n", 1, "Process 0 of 2 on node"},
                   });
}

TEST(Aps, CountsEveryPairOnce) {
  const Profile profile = read_path(snapshot).profile;
  EXPECT_TRUE(profile.point_to_point.undirected());
  EXPECT_EQ(profile.point_to_point.total_bytes(), 25.0 * (1 << 20));
  EXPECT_EQ(profile.point_to_point.total_messages(), 1510);
  EXPECT_EQ(profile.point_to_point.bytes(Rank{0})[0], 8.0 * (1 << 20)) << "half in each direction";
}

TEST(Aps, InfersRanksWithoutTrafficFromTheAverage) {
  EXPECT_EQ(read_path(snapshot).profile.rank_count(), 4u) << "25 / 4.16667 are 6 pairs";
}

TEST(Aps, ReadsTablesWithOneDirectionAndWithBars) {
  const Profile profile =
      testing::read_as("", "| Rank --> Rank Volume(MB) Volume(%) Transfers\n| 0000 --> 0001 1 100 2\n| TOTAL 1 100 2\n")
          .profile;
  EXPECT_EQ(edges_of(profile.point_to_point), (Edges{{{0, 1}, 1 << 20}}));
}

TEST(Aps, ReportsTheErrorAndItsLine) {
  const std::string head = "| Rank <-> Rank  Volume(MB)  Volume(%)  Transfers\n";
  testing::expect_errors("aps", {
                                    {head + "0 <-> 1 5 100 1\n", 3, "before its line TOTAL"},
                                    {head + "0 <-> 1 5 50 1\n| [skipped 4 lines]\n", 3, "omitted lines"},
                                    {head + "0 <-> 1 5 50 1\n| TOTAL 10 100 2\n", 4, "without filters"},
                                    {head + "0 <-> 1 5 x 1\n", 2, "\"x\""},
                                    {head + "0 <-> 1 5 1 1\n0 --> 1 5 1 1\n", 3, "contains both"},
                                });
}

}  // namespace
}  // namespace rankloom
