// SPDX-License-Identifier: Apache-2.0
// tests: reading and writing Matrix Market files.
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
using ::testing::StartsWith;
using testing::write_as;

const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string symmetric = "%%MatrixMarket matrix coordinate integer symmetric\n";

TEST(MatrixMarketImport, ReadsAGeneralMatrixAsDirectedTraffic) {
  const CommGraph graph = graph_as("matrix-market", general + "% comment\n\n3 3 4\n1 2 10\n3 1 2.5e1\n2 2 7\n1 3 0\n");
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 10}, {{2, 0}, 25}, {{1, 1}, 7}, {{0, 2}, 0}}));
  EXPECT_FALSE(graph.undirected());
}

TEST(MatrixMarketImport, ReadsASymmetricMatrixAsAGraphThatCountsEachPairOnce) {
  const CommGraph graph = graph_as("matrix-market", symmetric + "3 3 3\n2 1 10\n3 2 4\n3 3 5\n");
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 5}, {{1, 0}, 5}, {{1, 2}, 2}, {{2, 1}, 2}, {{2, 2}, 5}}));
  EXPECT_TRUE(graph.undirected());
  EXPECT_EQ(graph.total_bytes(), 19);
}

TEST(MatrixMarketImport, CountsEntriesOfAPatternAsOne) {
  const CommGraph graph =
      graph_as("matrix-market", "%%matrixmarket MATRIX Coordinate Pattern General\r\n2 2 2\r\n1 2\r\n2 1");
  EXPECT_EQ(edges_of(graph), (Edges{{{0, 1}, 1}, {{1, 0}, 1}}));
}

TEST(MatrixMarketImport, AddsUpRepeatedEntries) {
  EXPECT_EQ(edges_of(graph_as("matrix-market", general + "2 2 2\n1 2 3\n1 2 4\n")), (Edges{{{0, 1}, 7}}));
}

TEST(MatrixMarketImport, ReadsArraysColumnByColumn) {
  const std::string array = "%%MatrixMarket matrix array real ";
  EXPECT_EQ(edges_of(graph_as("matrix-market", array + "general\n2 2\n0\n1\n2\n3\n")),
            (Edges{{{1, 0}, 1}, {{0, 1}, 2}, {{1, 1}, 3}}));
  EXPECT_EQ(edges_of(graph_as("matrix-market", array + "symmetric\n2 2\n0\n4\n6\n")),
            (Edges{{{0, 1}, 2}, {{1, 0}, 2}, {{1, 1}, 6}}));
}

TEST(MatrixMarketImport, AcceptsRanksWithoutTraffic) {
  EXPECT_EQ(graph_as("matrix-market", general + "1 1 0\n").rank_count(), 1u);
  EXPECT_EQ(graph_as("matrix-market", general + "1000000 1000000 0").rank_count(), 1'000'000u);
}

TEST(MatrixMarketImport, ReportsTheErrorAndItsLine) {
  testing::expect_errors(
      "matrix-market", {
                           {"%%MatrixMarket vector coordinate real general\n1 1 0\n", 1, "\"vector coordinate\""},
                           {"%%MatrixMarket matrix coordinate complex general\n1 1 0\n", 1, "\"complex\""},
                           {"%%MatrixMarket matrix array pattern general\n1 1\n", 1, "\"pattern\""},
                           {"%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n", 1, "\"hermitian\""},
                           {"%%MatrixMarket\n", 1, "\"nothing nothing\""},
                           {general, 2, "before its size line"},
                           {general + "2 3 1\n1 1 1\n", 2, "2 rows and 3 columns"},
                           {general + "0 0 0\n", 2, "the number of ranks is 0"},
                           {general + "2 2\n1 1 1\n", 2, "\"nothing\" is not a number of entries"},
                           {general + "2 2 x\n", 2, "\"x\""},
                           {general + "4000000000 4000000000 1\n1 1 1\n", 2, "4000000000 ranks in a file of"},
                           {general + "2 2 4000000000\n1 1 1\n", 2, "4000000000 entries in a file of"},
                           {general + "99999999999 99999999999 1\n1 1 1\n", 2, "too many"},
                           {"%%MatrixMarket matrix array real general\n4294967295 4294967295\n1\n", 2, "too many"},
                           {"%%MatrixMarket matrix array real general\n4294967294 4294967294\n1\n", 2, "in a file of"},
                           {general + "2 2 2\n1 2 3\n", 4, "before entry 2 of 2"},
                           {general + "2 2 1\n1 3 3\n", 3, "\"3\" is not a row or column"},
                           {general + "2 2 1\n0 1 3\n", 3, "\"0\" is not a row or column"},
                           {general + "2 2 1\n1\n1 3\n", 3, "\"nothing\" is not a row or column"},
                           {general + "2 2 1\n1 2\n", 3, "is not a finite number: \"nothing\""},
                           {general + "2 2 1\n1 2 -3\n", 3, "negative"},
                           {general + "2 2 1\n1 2 nan\n", 3, "\"nan\""},
                           {general + "2 2 1\n1 2 3 4\n", 3, "\"4\" follows the entry"},
                           {general + "2 2 1\n1 2 3\n2 1 3\n", 4, "\"2\" follows the 1 entries"},
                           {symmetric + "2 2 1\n1 2 3\n", 3, "above the diagonal"},
                           {"%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", 6, "before entry (2, 2)"},
                           {"%%MatrixMarket matrix array real general\n1 1\n1\n2\n", 4, "follows the 1 entries"},
                           {"2 2 1\n1 2 3\n", 1, "%%MatrixMarket"},
                       });
}

TEST(MatrixMarketExport, RoundTrips) {
  for (const bool undirected : {false, true}) {
    CommGraphBuilder builder(5);
    builder.add(Rank{0}, Rank{1}, 10);
    builder.add(Rank{4}, Rank{1}, 0.25);
    builder.add(Rank{2}, Rank{2}, 1e18);
    builder.add(Rank{3}, Rank{0}, 0);
    const CommGraph graph = std::move(builder).build(false, undirected);
    const auto text = write_as("matrix-market", profile_of(graph));
    ASSERT_TRUE(text);
    EXPECT_THAT(*text, StartsWith(undirected ? "%%MatrixMarket matrix coordinate real symmetric\n"
                                             : "%%MatrixMarket matrix coordinate real general\n"));
    expect_equal(graph_as("", *text), graph);
  }
}

TEST(MatrixMarketExport, WritesIntegersAsIntegers) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 123456789012345);
  const auto text = write_as("matrix-market", profile_of(std::move(builder).build(true)));
  ASSERT_TRUE(text);
  EXPECT_THAT(*text, StartsWith("%%MatrixMarket matrix coordinate integer general\n"));
  EXPECT_THAT(*text, HasSubstr("\n2 2 1\n1 2 123456789012345\n"));
}

}  // namespace
}  // namespace rankloom
