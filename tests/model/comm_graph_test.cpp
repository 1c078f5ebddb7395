// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/graph/comm_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

CommGraph build(std::uint32_t ranks, std::vector<std::array<std::uint32_t, 3>> edges, bool undirected = false) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to, bytes] : edges) builder.add(Rank{from}, Rank{to}, bytes);
  return std::move(builder).build(true, undirected);
}

TEST(CommGraph, RowsAreSortedAndDuplicateEdgesAreSummedUp) {
  const auto graph = build(3, {{0, 2, 5}, {0, 1, 7}, {0, 2, 6}, {2, 0, 1}});
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}, Rank{2}));
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(7, 11));
  EXPECT_THAT(graph.messages(Rank{0}), ElementsAre(1, 2));
  EXPECT_EQ(graph.degree(Rank{1}), 0U);
  EXPECT_EQ(graph.total_bytes(), 19);
}

TEST(CommGraph, AnUndirectedEdgeIsCountedOnceInTotal) {
  const auto graph = build(3, {{0, 1, 10}, {1, 2, 5}}, true);
  EXPECT_EQ(graph.edge_count(), 4U);
  EXPECT_EQ(graph.total_bytes(), 15);
  EXPECT_EQ(graph.total_messages(), 2);
  EXPECT_THAT(graph.bytes(Rank{1}), ElementsAre(5, 2.5));
}

TEST(CommGraph, SelfLoopsCanBeRemoved) {
  const auto graph = remove_self_loops(build(2, {{0, 0, 10}, {0, 1, 5}, {1, 1, 3}}));
  EXPECT_EQ(graph.total_bytes(), 5);
  EXPECT_EQ(graph.degree(Rank{1}), 0U);
}

TEST(CommGraph, ASumContainsTheTrafficOfBothGraphs) {
  const auto a = build(3, {{0, 1, 10}, {1, 2, 4}});
  const auto b = build(3, {{0, 1, 1}, {2, 0, 2}});
  const auto both = sum(a, b);
  EXPECT_EQ(both.total_bytes(), 17);
  EXPECT_THAT(both.bytes(Rank{0}), ElementsAre(11));
}

TEST(CommGraph, RelabellingBackRestoresTheGraph) {
  const auto graph = testing::random_graph(50, 0.2, 1);
  std::vector<Rank> name(50), back(50);
  for (std::uint32_t r = 0; r < 50; ++r) name[r] = Rank{r};
  Random(5).shuffle(std::span(name));
  for (std::uint32_t r = 0; r < 50; ++r) back[index(name[r])] = Rank{r};
  const auto there = relabel(graph, name);
  EXPECT_NE(there.rows().targets, graph.rows().targets);
  const auto again = relabel(there, back);
  EXPECT_EQ(again.rows().targets, graph.rows().targets);
  EXPECT_EQ(again.rows().bytes, graph.rows().bytes);
  EXPECT_EQ(again.rows().messages, graph.rows().messages);
}

TEST(CommGraph, NoRanksAndNoTrafficAreValid) {
  EXPECT_EQ(CommGraph().rank_count(), 0U);
  EXPECT_EQ(build(4, {}).total_bytes(), 0);
}

TEST(AssertionsDeathTest, OfTheLibraryAreOnInTests) {
#ifdef NDEBUG
  GTEST_SKIP() << "configure with -DRANKLOOM_ASSERTIONS=ON";
#else
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH((void)sum(build(2, {}), build(3, {})), "rank_count");
#endif
}

TEST(CommGraph, ADigestTellsGraphsApart) {
  const auto graph = [](double bytes, double messages, std::uint32_t ranks, std::uint32_t to = 2) {
    CommGraphBuilder builder(ranks);
    builder.add(Rank{0}, Rank{1}, 10, 1);
    builder.add(Rank{1}, Rank{to}, bytes, messages);
    return std::move(builder).build(true);
  };
  const std::uint64_t first = digest(graph(5, 1, 4));
  EXPECT_EQ(first, digest(graph(5, 1, 4)));
  EXPECT_EQ(first, 1592907733567822029U);  // on every architecture
  EXPECT_NE(first, digest(graph(6, 1, 4)));
  EXPECT_NE(first, digest(graph(5, 2, 4)));
  EXPECT_NE(first, digest(graph(5, 1, 5)));
  EXPECT_NE(first, digest(graph(5, 1, 4, 3)));
}

}  // namespace
}  // namespace rankloom
