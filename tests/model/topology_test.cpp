// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/machine/topology.hpp"

#include <gtest/gtest.h>

#include "rankloom/model/machine/distance.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::every_machine;
using testing::topology;

ObjectSpec object(std::string kind, std::uint64_t repeat, std::optional<Cost> between,
                  std::vector<ObjectSpec> children) {
  return {.kind = std::move(kind),
          .name = {},
          .repeat = repeat,
          .between = between,
          .os_index = {},
          .children = std::move(children)};
}
ObjectSpec cores(std::uint64_t count) {
  return object("core", count, {}, {});
}

Result<Topology> build(ObjectSpec root) {
  MachineSpec spec;
  spec.root = std::move(root);
  return Topology::build(std::move(spec));
}

TEST(Topology, CoresOfTheExampleClusterDivergeAsInThePaper) {
  const auto cluster = topology("switch:2=4.1 node:6=3.7 core:16=1");
  EXPECT_EQ(cluster.core_count(), 192U);
  EXPECT_EQ(cluster.node_count(), 12U);
  EXPECT_EQ(cluster.cost(Core{0}, Core{0}).inverse_bandwidth, 0);
  EXPECT_EQ(cluster.cost(Core{0}, Core{15}).inverse_bandwidth, 1);
  EXPECT_EQ(cluster.cost(Core{0}, Core{16}).inverse_bandwidth, 3.7);
  EXPECT_EQ(cluster.cost(Core{95}, Core{96}).inverse_bandwidth, 4.1);
  EXPECT_EQ(cluster.hops(Core{0}, Core{15}), 0U);
  EXPECT_EQ(cluster.hops(Core{0}, Core{16}), 2U);
  EXPECT_EQ(cluster.hops(Core{95}, Core{96}), 4U);
}

TEST(Topology, NodesMayHaveDifferentNumbersOfCores) {
  const auto machine = topology("node:3=10 core:2+7+4=1");
  EXPECT_EQ(machine.core_count(), 13U);
  EXPECT_EQ(machine.node_of(Core{1}), Node{0});
  EXPECT_EQ(machine.node_of(Core{2}), Node{1});
  EXPECT_EQ(machine.node_of(Core{8}), Node{1});
  EXPECT_EQ(machine.node_of(Core{9}), Node{2});
  EXPECT_EQ(machine.cost(Core{2}, Core{8}).inverse_bandwidth, 1);
  EXPECT_EQ(machine.cost(Core{8}, Core{9}).inverse_bandwidth, 10);
  EXPECT_EQ(machine.levels().back().arity, 0U);
  EXPECT_EQ(machine.levels().back().max_arity, 7U);
}

TEST(Topology, NodesOfDifferentTypesHaveTheirOwnCosts) {
  // One node of 2 packages x 2 cores, two plain nodes of 4 slower cores.
  const auto machine = build(object("machine", 1, Cost{10, 0},
                                    {object("node", 1, Cost{3, 0}, {object("package", 2, Cost{1, 0}, {cores(2)})}),
                                     object("node", 2, Cost{2, 0}, {cores(4)})}));
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_EQ(machine->core_count(), 12U);
  EXPECT_EQ(machine->levels().size(), 3U);
  EXPECT_EQ(machine->cost(Core{0}, Core{1}).inverse_bandwidth, 1);
  EXPECT_EQ(machine->cost(Core{1}, Core{2}).inverse_bandwidth, 3);
  EXPECT_EQ(machine->cost(Core{4}, Core{7}).inverse_bandwidth, 2);
  EXPECT_EQ(machine->cost(Core{8}, Core{9}).inverse_bandwidth, 2);
  EXPECT_EQ(machine->cost(Core{3}, Core{4}).inverse_bandwidth, 10);
  EXPECT_EQ(machine->cost(Core{7}, Core{8}).inverse_bandwidth, 10);
}

TEST(Topology, ANodeNextToASwitchGetsASwitchOfItsOwn) {
  const auto machine = build(object("machine", 1, Cost{10, 0},
                                    {object("switch", 2, Cost{5, 0}, {object("node", 2, Cost{1, 0}, {cores(2)})}),
                                     object("node", 1, Cost{1, 0}, {cores(2)})}));
  ASSERT_TRUE(machine) << to_string(machine.error());
  EXPECT_EQ(machine->node_count(), 5U);
  EXPECT_EQ(machine->levels()[0].objects, 3U);
  EXPECT_EQ(machine->cost(Core{0}, Core{2}).inverse_bandwidth, 5);
  EXPECT_EQ(machine->cost(Core{7}, Core{8}).inverse_bandwidth, 10);
  EXPECT_EQ(machine->hops(Core{0}, Core{8}), 4U);
}

TEST(Topology, AnObjectThatIsInsertedTakesANameOnlyIfItIsTheNode) {
  auto lone = object("node", 1, Cost{1, 0}, {cores(2)});
  lone.name = "lone";
  const auto with_switch = build(object(
      "machine", 1, Cost{10, 0}, {object("switch", 1, Cost{5, 0}, {object("node", 2, Cost{1, 0}, {cores(2)})}), lone}));
  ASSERT_TRUE(with_switch) << to_string(with_switch.error());
  EXPECT_EQ(with_switch->node_name(Node{2}), "lone");
  auto package = object("package", 1, Cost{1, 0}, {cores(2)});
  package.name = "host";
  const auto with_node =
      build(object("machine", 1, Cost{10, 0},
                   {object("node", 1, Cost{2, 0}, {object("package", 2, Cost{1, 0}, {cores(2)})}), package}));
  ASSERT_TRUE(with_node) << to_string(with_node.error());
  EXPECT_EQ(with_node->node_count(), 2U);
  EXPECT_EQ(with_node->node_name(Node{1}), "host");
}

TEST(Topology, ALevelAtWhichNoCoresDivergeKeepsItsCost) {
  const auto machine = topology("node:2=10 package:1=7 core:2=1");
  ASSERT_EQ(machine.levels()[1].kind, "package");
  EXPECT_EQ(machine.levels()[1].cost->inverse_bandwidth, 7);
  EXPECT_EQ(machine.levels()[0].cost->inverse_bandwidth, 10);
}

TEST(Topology, TheDefaultCostIsTenTimesTheLevelBelow) {
  const auto machine = topology("switch:2 node:2 core:2");
  EXPECT_EQ(machine.cost(Core{0}, Core{1}).inverse_bandwidth, 1);
  EXPECT_EQ(machine.cost(Core{0}, Core{2}).inverse_bandwidth, 10);
  EXPECT_EQ(machine.cost(Core{0}, Core{4}).inverse_bandwidth, 100);
}

TEST(Topology, AMachineWithoutNodesIsOneNode) {
  const auto machine = topology("package:2=2 core:4=1");
  EXPECT_EQ(machine.node_count(), 1U);
  EXPECT_EQ(machine.hops(Core{0}, Core{7}), 0U);
  EXPECT_EQ(machine.cost(Core{0}, Core{7}).inverse_bandwidth, 2);
}

TEST(Topology, AHugeMachineHasAShortDescription) {
  const auto machine = topology("switch:1024=1000 node:1024=100 package:2=10 core:5=1");
  EXPECT_EQ(machine.core_count(), 10'485'760U);
  EXPECT_EQ(machine.cost(Core{0}, Core{10'485'759}).inverse_bandwidth, 1000);
  EXPECT_EQ(machine.node_of(Core{10'485'759}), Node{1024 * 1024 - 1});
}

TEST(Topology, RejectsAbsurdSizesBeforeAnythingIsAllocated) {
  const auto machine = build(object("machine", 1, {}, {object("node", 1ULL << 40, {}, {cores(1ULL << 40)})}));
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().code, Code::bad_input);
  EXPECT_FALSE(build(object("machine", 1, {}, {})));
  EXPECT_FALSE(build(object("machine", 1, {}, {cores(4'000'000'000)}))) << "96 GB of cores";
  EXPECT_FALSE(build(object("machine", 1, {}, {object("node", 0, {}, {cores(2)})})));
}

TEST(Topology, RejectsLevelsInContradictoryOrder) {
  EXPECT_FALSE(build(object("machine", 1, {},
                            {object("switch", 1, {}, {object("node", 1, {}, {cores(1)})}),
                             object("node", 1, {}, {object("switch", 1, {}, {cores(1)})})})));
}

TEST(Topology, RejectsDuplicateNodeNames) {
  auto node = object("node", 1, {}, {cores(2)});
  node.name = "n1";
  const auto machine = build(object("machine", 1, {}, {node, node}));
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().what.find("n1"), std::string::npos);
}

TEST(Topology, PathsAgreeWithObjectsOnEveryKindOfMachine) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    for (const Core p : machine.cores()) {
      for (const Core q : machine.cores()) {
        if (p == q) continue;
        std::size_t expected = 0;
        while (machine.object_of(expected, p) == machine.object_of(expected, q)) ++expected;
        ASSERT_EQ(machine.divergence_level(p, q), expected);
        ASSERT_EQ(machine.node_of(p) == machine.node_of(q), expected > machine.node_level());
        ASSERT_TRUE(machine.is_matrix() || machine.cost(p, q).inverse_bandwidth > 0);
        ASSERT_TRUE(!machine.symmetric() || machine.cost(p, q) == machine.cost(q, p));
        ASSERT_EQ(machine.hops(p, q), machine.network().hops(machine.node_of(p), machine.node_of(q)));
      }
      for (std::size_t level = 0; level < machine.levels().size(); ++level) {
        const auto object = machine.object_of(level, p);
        ASSERT_LE(index(machine.first_core(level, object)), index(p));
        ASSERT_LT(index(p), index(machine.first_core(level, object + 1)));
      }
    }
  }
}

TEST(Topology, ARailConnectsCoresWithTheSamePositionInTheirNodes) {
  const auto machine = topology("leaf:2=8,30ns node:2=4,20ns rails:2 core:4=1,5ns");
  EXPECT_EQ(machine.rail_count(), 2U);
  EXPECT_EQ(machine.rail(Core{1}), 0U);
  EXPECT_EQ(machine.rail(Core{2}), 1U);
  EXPECT_EQ(machine.rail(Core{6}), 1U);
  EXPECT_EQ(machine.cost(Core{0}, Core{2}), (Cost{1, 5})) << "inside a node rails do not matter";
  EXPECT_EQ(machine.cost(Core{0}, Core{5}), (Cost{4, 20}));
  EXPECT_EQ(machine.cost(Core{0}, Core{6}), (Cost{5, 25})) << "inside the node to a core of rail 1, then on rail 1";
  EXPECT_EQ(machine.cost(Core{0}, Core{8}), (Cost{8, 30}));
  EXPECT_EQ(machine.cost(Core{0}, Core{10}), (Cost{8, 30})) << "the switches above the rails connect all of them";
  EXPECT_TRUE(machine.symmetric());
  EXPECT_FALSE(machine.cost_by_bit());
  const auto slow_nodes = topology("leaf:2=8 node:2=4 rails:2 core:4=5");
  EXPECT_EQ(slow_nodes.cost(Core{0}, Core{6}).inverse_bandwidth, 8) << "over the switches above";
  EXPECT_EQ(slow_nodes.hops(Core{0}, Core{6}), 4U);
  EXPECT_EQ(topology("node:2=4 rails:2 core:2=9").cost(Core{0}, Core{3}).inverse_bandwidth, 13) << "no switch above";
}

TEST(Topology, LinksOfRailsAreSeparate) {
  const auto machine = topology("leaf:2=8 node:2=4 rails:2 core:2=1");
  const auto links = [&](std::uint32_t p, std::uint32_t q) {
    std::vector<Link> route;
    machine.route(Core{p}, Core{q}, route);
    std::vector<std::uint32_t> rails;
    for (const Link link : route) rails.push_back(*machine.rail_of(link));
    return rails;
  };
  using Rails = std::vector<std::uint32_t>;
  EXPECT_EQ(links(0, 1), Rails());
  EXPECT_EQ(links(0, 2), (Rails{0, 0}));
  EXPECT_EQ(links(0, 3), (Rails{1, 1}));
  EXPECT_EQ(links(0, 7), (Rails{0, 0, 1, 1}));
  EXPECT_EQ(machine.link_count(), 2 * machine.network().link_count());
}

TEST(Topology, HolesKeepTheRailsOfOtherCores) {
  const auto machine = topology("node:2=4 rails:4 core:4=1 !core:0");
  EXPECT_EQ(machine.rail(Core{1}), 1U);
  EXPECT_EQ(machine.rail(Core{5}), 1U);
}

TEST(Topology, DifferentNodesHaveTheirOwnCosts) {
  const auto machine =
      testing::mixed_nodes();  // switch 0: two plain nodes and one of packages; switch 1: two plain nodes
  EXPECT_EQ(machine.core_count(), 20U);
  EXPECT_EQ(machine.cost(Core{0}, Core{3}).inverse_bandwidth, 2);
  EXPECT_EQ(machine.cost(Core{8}, Core{9}).inverse_bandwidth, 1);
  EXPECT_EQ(machine.cost(Core{9}, Core{10}).inverse_bandwidth, 3);
  EXPECT_EQ(machine.cost(Core{3}, Core{4}).inverse_bandwidth, 5);
  EXPECT_EQ(machine.cost(Core{12}, Core{16}).inverse_bandwidth, 6);
  EXPECT_EQ(machine.cost(Core{0}, Core{12}).inverse_bandwidth, 9);
}

TEST(Topology, RoutingTablesMayBeAsymmetric) {
  const auto machine = testing::ring_with_chord(true);
  EXPECT_FALSE(machine.symmetric());
  EXPECT_EQ(machine.hops(Core{0}, Core{2}), 3U);
  EXPECT_EQ(machine.hops(Core{2}, Core{0}), 7U);
}

TEST(Topology, ADistanceMatrixMayBeAsymmetric) {
  const auto table = Topology::from_matrix(2, {0, 3, 5, 1});
  ASSERT_TRUE(table);
  EXPECT_FALSE(table->symmetric());
  EXPECT_EQ(table->cost(Core{0}, Core{1}).inverse_bandwidth, 3);
  EXPECT_EQ(table->cost(Core{1}, Core{0}).inverse_bandwidth, 5);
  EXPECT_EQ(table->cost(Core{1}, Core{1}).inverse_bandwidth, 1);
}

TEST(Distance, IsTheCostBetweenCoresOnEveryMachine) {
  auto machines = every_machine();
  machines.emplace_back("torus", topology("torus:5x4x3=2,3us numa:2=1,2us core:2=0.5,1us"));
  machines.emplace_back("mesh", topology("mesh:4x7=2,3us core:3=0.5,1us"));
  machines.emplace_back("six dimensions", topology("torus:2x3x2x2x3x2=2,3us core:1"));
  for (const auto& [name, machine] : machines) {
    SCOPED_TRACE(name);
    const Distance bytes = make_distance(machine, CostModel::bytes), time = make_distance(machine, CostModel::time),
                   hops = make_distance(machine, CostModel::hopbytes);
    const auto between = [](const Distance& distance, Core p, Core q) {
      return std::visit([&](const auto& d) { return d(p, q); }, distance);
    };
    for (const Core p : machine.cores()) {
      for (const Core q : machine.cores()) {
        const Cost cost = machine.cost(p, q);
        ASSERT_EQ(between(bytes, p, q).per_byte, cost.inverse_bandwidth);
        ASSERT_EQ(between(time, p, q).per_message, cost.latency);
        ASSERT_EQ(between(hops, p, q).per_byte, machine.hops(p, q));
      }
    }
  }
}

TEST(Topology, OsIndicesCountWithinTheNodeUnlessGiven) {
  const auto machine = topology("node:2 core:4");
  EXPECT_EQ(machine.os_index(Core{5}), 1U);
  EXPECT_EQ(machine.node_name(Node{1}), "node1");
}

}  // namespace
}  // namespace rankloom
