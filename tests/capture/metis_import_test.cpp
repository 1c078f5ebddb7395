// SPDX-License-Identifier: Apache-2.0
// tests: reading and writing METIS graphs.
#include <fmt/format.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/core/text/scanner.hpp"
#include "tests/capture/import_support.hpp"
#include "tests/support/sanitizers.hpp"

namespace rankloom {
namespace {

using testing::edges_of;
using ::testing::ElementsAre;
using testing::error_as;
using testing::expect_equal;
using testing::graph_as;
using ::testing::HasSubstr;
using testing::profile_of;
using testing::write_as;

TEST(MetisImport, StoresHalfOfEachWeightInEachDirection) {
  const CommGraph graph = graph_as("metis", "3 2 1\n2 10\n1 10 3 7\n2 7\n");
  EXPECT_EQ(edges_of(graph), (testing::Edges{{{0, 1}, 5}, {{1, 0}, 5}, {{1, 2}, 3.5}, {{2, 1}, 3.5}}));
  EXPECT_TRUE(graph.undirected());
  EXPECT_FALSE(graph.has_messages());
  EXPECT_EQ(graph.total_bytes(), 17);
}

TEST(MetisImport, CountsAnEdgeWithoutWeightAsOne) {
  EXPECT_EQ(graph_as("metis", "3 2\n2 3\n1\n1\n").total_bytes(), 2);
}

TEST(MetisImport, ReadsEveryCombinationOfFlags) {
  const std::string flags[] = {"",    " 0",   " 000", " 1",   " 001", " 10", " 010",
                               " 11", " 011", " 100", " 101", " 110", " 111"};
  for (const std::string& flag : flags) {
    const int value = flag.empty() ? 0 : std::atoi(flag.c_str());
    const bool edge_weights = value % 10 == 1, vertex_weights = value / 10 % 10 == 1, sizes = value / 100 == 1;
    const auto row = [&](int vertex, std::initializer_list<int> neighbours) {
      std::string text = sizes ? "99 " : "";
      if (vertex_weights) text += fmt::format("{} ", 10 * vertex);
      for (const int other : neighbours)
        text += edge_weights ? fmt::format("{} {} ", other, vertex + other) : fmt::format("{} ", other);
      return text + "\n";
    };
    const CommGraph graph = graph_as("metis", "3 2" + flag + "\n" + row(1, {3, 2}) + row(2, {1}) + row(3, {1}));
    EXPECT_EQ(graph.total_bytes(), edge_weights ? 7 : 2) << flag;
    if (vertex_weights) {
      EXPECT_THAT(graph.loads(), ElementsAre(10, 20, 30)) << flag;
    } else {
      EXPECT_TRUE(graph.loads().empty()) << flag;
    }
  }
}

TEST(MetisImport, UsesTheFirstVertexWeightAsLoad) {
  const CommGraph graph = graph_as("metis", "2 1 011 3\n5 6 7 2 4\n8 9 10 1 4\n");
  EXPECT_THAT(graph.loads(), ElementsAre(5, 8));
  EXPECT_EQ(graph.total_bytes(), 4);
}

TEST(MetisImport, AcceptsCommentsOtherLineEndsAndUnsortedRows) {
  const CommGraph plain = graph_as("metis", "4 3 1\n2 1 3 2 4 3\n1 1\n1 2\n1 3\n");
  expect_equal(graph_as("metis", "% head\r\n4 3 001\r\n% one\r\n4 3\t3 2  2 1\r\n1 1\r\n%\r\n1 2\r\n 1 3"), plain);
  EXPECT_THAT(graph_as("metis", "\n2 1 10\n5 2\n6 1\n\n \n").loads(), ElementsAre(5, 6));
  expect_equal(graph_as("metis", "4 3 1\n4 3.0 3 2e0 2 1\n1 1\n1 2\n1 3\n\n \n"), plain);
}

TEST(MetisImport, AcceptsVerticesWithoutNeighbours) {
  EXPECT_EQ(graph_as("metis", "1 0\n").rank_count(), 1u);
  EXPECT_EQ(graph_as("metis", "1 0").rank_count(), 1u);
  EXPECT_EQ(graph_as("metis", "3 0\n\n\n\n").rank_count(), 3u);
  EXPECT_EQ(graph_as("metis", "3 0\n\n\n").rank_count(), 3u) << "the last line has no line end";
  const CommGraph graph = graph_as("metis", "5 1\n\n4\n\n2\n\n");
  EXPECT_EQ(edges_of(graph), (testing::Edges{{{1, 3}, 0.5}, {{3, 1}, 0.5}}));
}

TEST(MetisImport, AllowsWeightsOfZeroAndFractions) {
  const CommGraph graph = graph_as("metis", "3 2 1\n2 0 3 0.25\n1 0\n1 0.25\n");
  EXPECT_EQ(graph.edge_count(), 4u);
  EXPECT_EQ(graph.total_bytes(), 0.25);
}

TEST(MetisImport, ReportsTheErrorAndItsLine) {
  testing::expect_errors(
      "metis", {
                   {"3\n2\n1\n\n", 1, "the numbers of vertices and edges"},
                   {"0 0\n", 1, "has no vertices"},
                   {"3 2 7\n", 1, "flags 007"},
                   {"3 2 1000\n", 1, "flags 1000"},
                   {"3 2 11 0\n\n\n\n", 1, "number of vertex weights: 0"},
                   {"3 2 11 2 5\n", 1, "invalid header at \"5\""},
                   {"3 x\n", 1, "invalid header at \"x\""},
                   {"3 -2\n", 1, "invalid header at \"-2\""},
                   {"% comment\n3 2\n2 4\n1\n\n", 3, "\"4\" is not a vertex"},
                   {"3 2\n2 0\n1\n\n", 2, "\"0\" is not a vertex"},
                   {"3 2\n2 -1\n1\n\n", 2, "\"-1\" is not a vertex"},
                   {"3 2\n2 3\n1 x\n1\n", 3, "\"x\" is not a vertex"},
                   {"3 2\n2 3\n1 1.5\n1\n", 3, "\"1.5\" is not a vertex"},
                   {"3 2\n2 99999999999999999999\n1\n1\n", 2, "is not a vertex"},
                   {"3 2 1\n2 5 3\n1 5\n1 5\n", 2, "is not a finite number: \"nothing\""},
                   {"3 2 1\n2 -5\n1 -5\n\n", 2, "the edge weight is negative"},
                   {"3 2 1\n2 nan\n1 nan\n\n", 2, "is not a finite number: \"nan\""},
                   {"3 2 1\n2 inf\n1 1\n\n", 2, "is not a finite number: \"inf\""},
                   {"3 2 1\n2 1e999\n1 1\n\n", 2, "is not a finite number: \"1e999\""},
                   {"3 1 10\n5 2\n\n5 1\n", 3, "the vertex weight is not a finite number: \"nothing\""},
                   {"2 1 10\n5 2\n\n", 2, "ends after 1 of 2 rows"},
                   {"2 1 10\n5 2\n-5 1\n", 3, "the vertex weight is negative"},
                   {"3 2\n2 3\n1\n1\n2\n", 5, "more rows than the 3 vertices"},
                   {"5 2\n2 3\n1\n1\n", 5, "ends after 3 of 5 rows"},
                   {"2 1 10\n5 2\n", 2, "ends after 1 of 2 rows"},
                   {"3 1\n2 3\n1\n1\n", 2, "have more entries than the 1 edges"},
                   {"4 3\n2 3\n1\n1\n\n", 6, "have 4 entries, but 3 edges have 6"},
                   {"3 4\n2 3\n1\n1\n\n", 6, "write 2"},
                   {"3 2\n1 2\n1\n1\n", 2, "vertex 1 is its own neighbour"},
                   {"3 2\n2 3\n1 3\n\n", 2, "vertex 1 has neighbour 3, but vertex 3 does not have neighbour 1"},
                   {"3 2 1\n2 5 3 6\n1 5\n1 7\n", 2, "between 1 and 3 has weight 6 here and 7"},
                   {"3 2\n2 2\n1 1\n\n", 2, "neighbour 2 occurs twice"},
                   {"3 2\n\n3 3\n2 2\n", 3, "neighbour 3 occurs twice"},
                   {"4000000000 1\n2\n1\n", 1, "4000000000 vertices and 1 edges in a file of"},
                   {"3 4000000000000\n2\n1\n", 1, "in a file of"},
                   {"3 18446744073709551615\n2\n1\n", 1, "in a file of"},
                   {"2 1 11 18446744073709551615\n2\n1\n", 1, "number of vertex weights"},
               });
}

/// A random symmetric graph as text, with unsorted rows.
std::string random_graph_text(std::uint32_t vertices, std::size_t edges, bool weights, bool loads, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::map<std::uint32_t, std::uint64_t>> rows(vertices);
  std::size_t count = 0;
  for (std::size_t i = 0; i < edges; ++i) {
    const auto u = static_cast<std::uint32_t>(random.below(vertices)),
               v = static_cast<std::uint32_t>(random.below(vertices));
    if (u == v || rows[u].count(v) > 0) continue;
    rows[u][v] = rows[v][u] = random.below(random.below(20) == 0 ? 1'000'000'000'000 : 1000);
    ++count;
  }
  std::string text = fmt::format("{} {} {}{}\n", vertices, count, loads ? 1 : 0, weights ? 1 : 0);
  for (const auto& row : rows) {
    std::vector<std::string> words;
    for (const auto& [to, weight] : row)
      words.push_back(weights ? fmt::format("{} {}", to + 1, weight) : fmt::format("{}", to + 1));
    Random(row.size()).shuffle(std::span(words));
    if (loads) text += fmt::format("{} ", random.below(100));
    for (const std::string& word : words) text += word + " ";
    text += "\n";
  }
  return text;
}

/// Reference implementation of the reader, for valid graphs.
CommGraph plain_reader(const std::string& text, bool weights, bool loads) {
  Scanner in(text);
  std::uint64_t vertices = 0, edges = 0;
  in.take_integer(vertices);
  in.skip_blanks();
  in.take_integer(edges);
  in.skip_line();
  CommGraphBuilder builder(static_cast<std::uint32_t>(vertices));
  std::vector<double> load(loads ? vertices : 0);
  for (std::uint32_t from = 0; from < vertices; ++from) {
    if (loads) in.take_number(load[from]);
    for (in.skip_blanks(); !in.at_line_end(); in.skip_blanks()) {
      std::uint64_t to = 0;
      double weight = 1;
      in.take_integer(to);
      in.skip_blanks();
      if (weights) in.take_number(weight);
      if (to - 1 > from) builder.add(Rank{from}, Rank{static_cast<std::uint32_t>(to - 1)}, weight);
    }
    in.take('\n');
  }
  builder.set_loads(load);
  return std::move(builder).build(false, true);
}

TEST(MetisImport, ReadsLargeGraphsLikeTheReferenceReader) {
  for (const bool weights : {false, true}) {
    for (const bool loads : {false, true}) {
      const std::string text = random_graph_text(20'000, 120'000, weights, loads, 7);
      expect_equal(graph_as("metis", text), plain_reader(text, weights, loads));
    }
  }
}

TEST(MetisImport, DoesNotDependOnTheNumberOfThreads) {
  const std::string text = random_graph_text(30'000, 200'000, true, true, 8);
  const CommGraph all = graph_as("metis", text);
  const ThreadLimit one(1);
  expect_equal(graph_as("metis", text), all);
}

TEST(MetisImport, FindsAnErrorInAnyBlockOfALargeGraph) {
  const std::string good = random_graph_text(20'000, 100'000, true, false, 9);
  Random random(10);
  for (int round = 0; round < 40 / testing::slowdown; ++round) {
    std::string text = good;
    const std::size_t line = text.find('\n', random.below(text.size() - 100)) + 1;
    const std::size_t digit = text.find_first_of("0123456789", line);
    text[digit] = text[digit] == '9' ? '8' : static_cast<char>(text[digit] + 1);
    const Error error = error_as("metis", text);
    EXPECT_GT(error.where.line, 1u);
  }
}

TEST(MetisImport, RoundTrips) {
  for (const bool weights : {false, true}) {
    for (const bool loads : {false, true}) {
      std::string text = random_graph_text(300, 900, weights, loads, 11);
      const CommGraph graph = graph_as("metis", text);
      Profile profile = profile_of(graph);
      const auto written = write_as("metis", profile);
      ASSERT_TRUE(written) << to_string(written.error());
      const CommGraph back = graph_as("metis", *written);
      // Edges of weight 0 cannot be written.
      testing::Edges expected;
      for (const auto& [pair, bytes] : edges_of(graph)) {
        if (bytes > 0) expected[pair] = bytes;
      }
      EXPECT_EQ(edges_of(back), expected);
      EXPECT_EQ(back.rows().loads, graph.rows().loads);
    }
  }
}

TEST(MetisExport, SumsBothDirectionsAndOmitsLoops) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 10);
  builder.add(Rank{1}, Rank{0}, 5);
  builder.add(Rank{2}, Rank{1}, 3);
  builder.add(Rank{2}, Rank{2}, 100);
  builder.add(Rank{0}, Rank{2}, 0);
  EXPECT_EQ(write_as("metis", profile_of(std::move(builder).build(true))), "3 2 001\n2 15\n1 15 3 3\n2 3\n");
}

TEST(MetisExport, AddsExpandedCollectives) {
  CommGraphBuilder pairs(2), collectives(2);
  pairs.add(Rank{0}, Rank{1}, 10);
  collectives.add(Rank{1}, Rank{0}, 4);
  Profile profile = profile_of(std::move(pairs).build(true));
  profile.expanded_collectives = std::move(collectives).build(true);
  EXPECT_EQ(write_as("metis", profile), "2 1 001\n2 14\n1 14\n");
}

TEST(MetisExport, ExpandsCollectives) {
  Profile profile = profile_of(CommGraphBuilder(4).build(true));
  profile.communicators = {{"world", {}}};
  profile.collectives = {{.communicator = 0, .op = CollectiveOp::bcast, .root = 0, .bytes = 8, .count = 2}};
  const auto text = write_as("metis", profile);
  ASSERT_TRUE(text);
  EXPECT_EQ(graph_as("metis", *text).total_bytes(), 3 * 16) << "a tree of four has three edges";
}

TEST(MetisExport, RejectsFractionsInsteadOfRounding) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 2.5);
  const auto written = write_as("metis", profile_of(std::move(builder).build(false)));
  ASSERT_FALSE(written);
  EXPECT_THAT(written.error().what, HasSubstr("2.5"));
  EXPECT_THAT(written.error().hint, HasSubstr("matrix-market"));
}

}  // namespace
}  // namespace rankloom
