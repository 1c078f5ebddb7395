// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/subtree_exchange.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/map/multilevel/small_graphs.hpp"
#include "tests/support/instances.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::topology;

struct Machine {
  explicit Machine(std::string_view text, std::uint32_t ranks)
      : topology(rankloom::testing::topology(text)),
        capacities(*Capacities::of(topology, ranks, {})),
        tree(topology, capacities),
        distance(make_distance(topology, CostModel::bytes)) {}

  double cost(const WeightedGraph& graph, const std::vector<Core>& core_of) const {
    return testing::cost_of(graph, core_of, [&](Core p, Core q) {
      return std::visit([&](const auto& d) { return d(p, q).per_byte; }, distance);
    });
  }

  Topology topology;
  Capacities capacities;
  MachineTree tree;
  Distance distance;
};

TEST(ExchangeSubtrees, PlacesCliquesOnOneNodeThatWereAcrossTwo) {
  // Nodes of 32 cores in packages of 4. Cliques of 12, 12 and 12 are on the first node, except four ranks of the third
  // one, which are on the second node with cliques of 8, 12 and 8. A clique of 8 has to swap with the other eight ranks
  // of the third clique, and already the swap of the first package increases the cost.
  std::vector<testing::UndirectedEdge> edge_list;
  std::uint32_t first = 0;
  for (const std::uint32_t size : {12, 12, 12, 8, 12, 8}) {
    testing::add_clique(edge_list, first, size);
    first += size;
  }
  for (std::uint32_t a = 0; a < 64; a += 4) {  // and little traffic between all packages
    for (std::uint32_t b = a + 4; b < 64; b += 4) edge_list.push_back({a, b, 0.001F});
  }
  const auto graph = testing::graph_of(64, edge_list);
  const Machine machine("node:2=100 package:8=10 core:4=1", 64);
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < 64; ++rank) core_of.push_back(Core{rank});
  exchange_subtrees(graph, machine.tree, machine.distance, core_of, 5);
  const auto between_nodes = [](Core p, Core q) { return index(p) / 32 == index(q) / 32 ? 0.0 : 1.0; };
  EXPECT_LT(testing::cost_of(graph, core_of, between_nodes), 1);
}

TEST(ExchangeSubtrees, NeverIncreasesTheCostAndStaysValid) {
  for (const char* text : {"switch:2=50 node:3=10 core:4=1", "switch:3=70 node:2=20 package:2=5 core:2=1", "core:24=1",
                           "torus:2x3=5 package:2=3 core:2=1", "node:3=9 core:5+9+10=1", "node:6=10 core:4=1"}) {
    for (const std::uint32_t ranks : {24U, 17U}) {
      const Machine machine(text, ranks);
      for (const std::uint64_t seed : {1, 2, 3}) {
        SCOPED_TRACE(::testing::Message() << text << " " << ranks << " " << seed);
        const auto graph = testing::random_weighted(ranks, 4, seed);
        auto core_of = rankloom::testing::random_placement(ranks, machine.topology, machine.capacities, seed);
        const double before = machine.cost(graph, core_of);
        exchange_subtrees(graph, machine.tree, machine.distance, core_of, 4);
        EXPECT_LE(machine.cost(graph, core_of), before);
        EXPECT_TRUE(Mapping::create(core_of, machine.topology, machine.capacities));
      }
    }
  }
}

TEST(ExchangeSubtrees, MovesAGroupToAnEmptyNode) {
  // Two communicating pairs on nodes of different switches; half of the nodes are empty.
  const auto graph = testing::graph_of(4, std::vector<testing::UndirectedEdge>{{0, 1, 9}, {2, 3, 9}, {0, 2, 1}});
  const Machine machine("switch:2=50 node:2=10 core:2=1", 4);
  std::vector<Core> core_of{Core{0}, Core{1}, Core{4}, Core{5}};
  exchange_subtrees(graph, machine.tree, machine.distance, core_of, 2);
  EXPECT_EQ(machine.cost(graph, core_of), 9 + 9 + 10);
}

}  // namespace
}  // namespace rankloom::multilevel
