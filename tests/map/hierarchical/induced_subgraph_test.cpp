// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/hierarchical/induced_subgraph.hpp"

#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

TEST(InducedSubgraphs, ContainTheTrafficBetweenTheirRanks) {
  for (const bool undirected : {false, true}) {
    const CommGraph graph = testing::random_graph(12, 0.5, 1, undirected);
    const auto bytes = [](const CommGraph& of, Rank from, Rank to) {
      for (std::size_t edge = 0; edge < of.degree(from); ++edge) {
        if (of.targets(from)[edge] == to) return std::pair(of.bytes(from)[edge], of.messages(from)[edge]);
      }
      return std::pair(-1.0, -1.0);
    };
    InducedSubgraphs subgraphs(graph);
    for (const std::vector<Rank>& ranks : {std::vector{Rank{7}, Rank{2}, Rank{11}, Rank{0}}, {Rank{3}, Rank{7}}, {}}) {
      const CommGraph subgraph = subgraphs.extract(ranks);
      ASSERT_EQ(subgraph.rank_count(), ranks.size());
      EXPECT_EQ(subgraph.undirected(), undirected);
      for (const Rank a : subgraph.ranks()) {
        EXPECT_TRUE(std::is_sorted(subgraph.targets(a).begin(), subgraph.targets(a).end()));
        for (const Rank b : subgraph.ranks())
          EXPECT_EQ(bytes(subgraph, a, b), bytes(graph, ranks[index(a)], ranks[index(b)]));
      }
    }
  }
}

TEST(InducedSubgraphs, KeepLoads) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 1);
  builder.set_loads({5, 6, 7});
  const CommGraph graph = std::move(builder).build(false);
  const std::vector<Rank> ranks{Rank{2}, Rank{0}};
  const CommGraph subgraph = InducedSubgraphs(graph).extract(ranks);
  EXPECT_EQ(subgraph.load(Rank{0}), 7);
  EXPECT_EQ(subgraph.load(Rank{1}), 5);
  EXPECT_FALSE(subgraph.has_messages());
}

}  // namespace
}  // namespace rankloom
