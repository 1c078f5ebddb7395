// SPDX-License-Identifier: Apache-2.0
// tests: dense matrices as text, and EagerMap's.
#include <fmt/format.h>

#include "tests/capture/import_support.hpp"

namespace rankloom {
namespace {

using testing::Edges;
using testing::edges_of;
using testing::error_as;
using testing::expect_equal;
using testing::graph_as;
using ::testing::HasSubstr;
using testing::profile_of;
using testing::write_as;

TEST(DenseImport, ReadsRowIAsTheTrafficFromRankI) {
  const CommGraph graph = graph_as("dense", "0 1 2\n3 0 0.5\n0 4 9\n");
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 1}, {{0, 2}, 2}, {{1, 0}, 3}, {{1, 2}, 0.5}, {{2, 1}, 4}, {{2, 2}, 9}}));
  EXPECT_FALSE(graph.undirected());
  EXPECT_FALSE(graph.has_messages());
}

TEST(DenseImport, AcceptsOneRankNoTrafficCommentsAndOtherLineEnds) {
  EXPECT_EQ(graph_as("dense", "0").rank_count(), 1u);
  EXPECT_EQ(edges_of(graph_as("dense", "7\n")), (Edges{{{0, 0}, 7}}));
  EXPECT_EQ(graph_as("dense", "0 0\n0 0\n").edge_count(), 0u);
  EXPECT_EQ(edges_of(graph_as("dense", "# head\r\n0\t1\r\n\r\n 2 0 \r\n\r\n")), (Edges{{{0, 1}, 1}, {{1, 0}, 2}}));
}

TEST(DenseImport, ReportsTheErrorAndItsLine) {
  testing::expect_errors("dense", {
                                      {"# nothing\n", 2, "no numbers"},
                                      {"0 1\n1 0 5\n", 2, "row 2 has 3 numbers, but the first row has 2"},
                                      {"0 1 2\n1 0\n", 2, "row 2 has 2 numbers, but the first row has 3"},
                                      {"0 1\n1 0\n0 0\n", 3, "more than 2 rows"},
                                      {"0 1 2\n1 0 2\n", 3, "ends after 2 of 3 rows"},
                                      {"0 1\n-1 0\n", 2, "the traffic is negative"},
                                      {"0 1\nnan 0\n", 2, "is not a finite number: \"nan\""},
                                      {"0 1\n1 x\n", 2, "is not a finite number: \"x\""},
                                      {"0,1\n1,0\n", 1, "is not a finite number: \",1\""},
                                  });
}

TEST(DenseExport, RoundTrips) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{3}, 10);
  builder.add(Rank{3}, Rank{3}, 0.1);
  builder.add(Rank{2}, Rank{0}, 1e17);
  const CommGraph graph = std::move(builder).build(false);
  const auto text = write_as("dense", profile_of(graph));
  EXPECT_EQ(text, "0 0 0 10\n0 0 0 0\n1e+17 0 0 0\n0 0 0 0.1\n");
  expect_equal(graph_as("dense", *text), graph);
}

TEST(DenseExport, RejectsTooManyRanks) {
  const auto text = write_as("dense", profile_of(CommGraphBuilder(100'000).build(false)));
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().hint, HasSubstr("matrix-market"));
}

TEST(EagermapImport, ReadsTheRowOfTheLastRankFirst) {
  const CommGraph graph = graph_as("eagermap", "30,31,32,33\n20,21,22,23\n10,11,12,13\n0,1,2,3\n");
  for (int from = 0; from < 4; ++from) {
    for (int to = 0; to < 4; ++to) {
      const int expected = 10 * from + to;
      EXPECT_EQ(edges_of(graph).count({from, to}), expected > 0 ? 1u : 0u);
      if (expected > 0) {
        EXPECT_EQ(edges_of(graph).at({from, to}), expected);
      }
    }
  }
}

TEST(EagermapImport, AcceptsBlanksAndOtherLineEnds) {
  EXPECT_EQ(edges_of(graph_as("eagermap", " 1 , 0\r\n0,\t2")), (Edges{{{1, 0}, 1}, {{0, 1}, 2}}));
}

TEST(EagermapImport, ReportsTheErrorAndItsLine) {
  EXPECT_THAT(error_as("eagermap", "0,1\n1 0\n").what, HasSubstr("missing comma before \"0\""));
  EXPECT_THAT(error_as("eagermap", "0,1\n1,,0\n").what, HasSubstr("is not a finite number"));
  EXPECT_THAT(error_as("eagermap", "0,1,\n1,0,\n").what, HasSubstr("is not a finite number: \"nothing\""));
  EXPECT_THAT(error_as("eagermap", "0,1,2\n1,0,2\n").what, HasSubstr("after 2 of 3 rows"));
  EXPECT_EQ(error_as("eagermap", "0,1\n1,-3\n").where.line, 2u);
}

}  // namespace
}  // namespace rankloom
