// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/hierarchical/induced.hpp"

#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

TEST(InducedGraphs, HoldWhatTheirRanksSayToEachOther) {
  for (const bool undirected : {false, true}) {
    const CommGraph graph = testing::random_graph(12, 0.5, 1, undirected);
    const auto bytes = [](const CommGraph& of, Rank from, Rank to) {
      for (std::size_t edge = 0; edge < of.degree(from); ++edge) {
        if (of.targets(from)[edge] == to) return std::pair(of.bytes(from)[edge], of.messages(from)[edge]);
      }
      return std::pair(-1.0, -1.0);
    };
    InducedGraphs graphs(graph);
    for (const std::vector<Rank>& ranks : {std::vector{Rank{7}, Rank{2}, Rank{11}, Rank{0}}, {Rank{3}, Rank{7}}, {}}) {
      const CommGraph some = graphs.of(ranks);
      ASSERT_EQ(some.rank_count(), ranks.size());
      EXPECT_EQ(some.undirected(), undirected);
      for (const Rank a : some.ranks()) {
        EXPECT_TRUE(std::is_sorted(some.targets(a).begin(), some.targets(a).end()));
        for (const Rank b : some.ranks()) EXPECT_EQ(bytes(some, a, b), bytes(graph, ranks[index(a)], ranks[index(b)]));
      }
    }
  }
}

TEST(InducedGraphs, KeepLoads) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 1);
  builder.set_loads({5, 6, 7});
  const CommGraph graph = std::move(builder).build(false);
  const std::vector<Rank> ranks{Rank{2}, Rank{0}};
  const CommGraph some = InducedGraphs(graph).of(ranks);
  EXPECT_EQ(some.load(Rank{0}), 7);
  EXPECT_EQ(some.load(Rank{1}), 5);
  EXPECT_FALSE(some.has_messages());
}

}  // namespace
}  // namespace rankloom
