// SPDX-License-Identifier: Apache-2.0
// evaluate: metrics of a mapping.
#include "rankloom/evaluate/metrics.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "rankloom/model/cost/loads.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::every_machine;
using testing::random_graph;
using testing::random_placement;
using testing::topology;

/// Reference implementation: searches the divergence level of every pair of ranks.
std::vector<double> bytes_by_level(const CommGraph& graph, const Topology& machine, std::span<const Core> core_of) {
  std::vector<double> bytes(machine.levels().size() + 1);
  for (const Rank rank : graph.ranks()) {
    for (std::size_t edge = 0; edge < graph.degree(rank); ++edge) {
      const Core from = core_of[index(rank)], to = core_of[index(graph.targets(rank)[edge])];
      std::size_t level = 0;
      while (level < machine.levels().size() && machine.object_of(level, from) == machine.object_of(level, to)) ++level;
      bytes[level] += graph.bytes(rank)[edge];
    }
  }
  return bytes;
}

TEST(LevelTraffic, EqualsAReferenceCountOnEveryMachine) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    const CommGraph graph = random_graph(9, 0.5, 3);
    const auto capacities = Capacities::of(machine, 9, {});
    ASSERT_TRUE(capacities);
    const auto core_of = random_placement(9, machine, *capacities, 7);
    const auto expected = bytes_by_level(graph, machine, core_of);
    const auto levels = level_traffic(graph, machine, core_of);
    ASSERT_EQ(levels.size(), expected.size());
    for (std::size_t level = 0; level < levels.size(); ++level)
      EXPECT_EQ(levels[level].bytes, expected[level]) << levels[level].level;
    EXPECT_EQ(levels.back().level, "same core");
  }
}

TEST(LevelTraffic, CountsRanksOnTheSameCoreInTheLastRow) {
  const Topology machine = topology("node:2=10 core:1*2=1");
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 100, 3);
  builder.add(Rank{1}, Rank{2}, 10, 1);
  const CommGraph graph = std::move(builder).build(true);
  const std::vector<Core> core_of{Core{0}, Core{0}, Core{1}, Core{1}};
  const auto levels = level_traffic(graph, machine, core_of);
  EXPECT_EQ(levels.back().bytes, 100);
  EXPECT_EQ(levels.back().messages, 3);
  EXPECT_EQ(levels.front().level, "node");
  EXPECT_EQ(levels.front().bytes, 10);
  EXPECT_EQ(levels.front().messages, 1);
}

TEST(LevelTraffic, CountsAnUndirectedEdgeOnce) {
  const Topology machine = topology("node:2=10 core:1=1");
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 100);
  const CommGraph graph = std::move(builder).build(false, true);
  const std::vector<Core> core_of{Core{0}, Core{1}};
  const auto levels = level_traffic(graph, machine, core_of);
  EXPECT_EQ(levels.front().bytes, 100);
  EXPECT_EQ(levels.front().messages, 1);
}

TEST(Metrics, ContainEveryCostModelThatIsNotATime) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    const CommGraph graph = random_graph(9, 0.5, 5);
    const auto core_of = block_placement(9, machine, *Capacities::of(machine, 9, {}));
    const Metrics metrics = measure(graph, machine, core_of);
    ASSERT_EQ(metrics.costs.size(), cost_models().size() - 1);
    for (const auto& [model, value] : metrics.costs)
      EXPECT_EQ(value, evaluate(graph, machine, core_of, model)) << info(model).name;
    EXPECT_DOUBLE_EQ(metrics.average_hops,
                     evaluate(graph, machine, core_of, CostModel::hopbytes) / graph.total_bytes());
  }
}

TEST(Metrics, ListTheTenMostLoadedLinksInDescendingOrder) {
  const Topology machine = topology("torus:4x4=1 core:1=1");
  const CommGraph graph = random_graph(16, 0.6, 11);
  const auto core_of = block_placement(16, machine, *Capacities::of(machine, 16, {}));
  const Metrics metrics = measure(graph, machine, core_of);
  ASSERT_EQ(metrics.heaviest_links.size(), 10U);
  EXPECT_TRUE(std::is_sorted(metrics.heaviest_links.begin(), metrics.heaviest_links.end(),
                             [](const LinkLoad& a, const LinkLoad& b) { return a.bytes > b.bytes; }));
  const auto loads = link_loads(graph, machine, core_of);
  EXPECT_EQ(metrics.heaviest_links.front().bytes, *std::max_element(loads.begin(), loads.end()));
  for (const LinkLoad& link : metrics.heaviest_links) EXPECT_EQ(link.bytes, loads[index(link.link)]);
}

TEST(Metrics, NameTheEndpointsOfALink) {
  const Topology machine = topology("switch:2=4 node:2=2 core:1=1");
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{3}, 50);
  const CommGraph graph = std::move(builder).build(false);
  const auto core_of = block_placement(4, machine, *Capacities::of(machine, 4, {}));
  const Metrics metrics = measure(graph, machine, core_of);
  ASSERT_EQ(metrics.heaviest_links.size(), 4U);
  const auto leaves = std::find_if(metrics.heaviest_links.begin(), metrics.heaviest_links.end(),
                                   [](const LinkLoad& link) { return link.from == "node0"; });
  ASSERT_NE(leaves, metrics.heaviest_links.end());
  EXPECT_EQ(leaves->to, "switch0");
}

TEST(Metrics, DescribeTheDistributionOfRanks) {
  const Topology machine = topology("node:3=10 core:2=1");
  CommGraphBuilder builder(3);
  builder.set_loads({1, 2, 3});
  const CommGraph graph = std::move(builder).build(false);
  const std::vector<Core> core_of{Core{0}, Core{4}, Core{4}};
  const Metrics metrics = measure(graph, machine, core_of);
  EXPECT_EQ(metrics.nodes_used, 2U);
  EXPECT_EQ(metrics.cores_used, 2U);
  EXPECT_EQ(metrics.max_ranks_per_core, 2U);
  EXPECT_DOUBLE_EQ(metrics.load_imbalance, 5.0 / 2 - 1);  // three ranks could use three cores: 2 each
  EXPECT_EQ(metrics.average_hops, 0);                     // no traffic
}

}  // namespace
}  // namespace rankloom
