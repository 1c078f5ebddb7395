// SPDX-License-Identifier: Apache-2.0
#include "rankloom/allocate/routing/allocation_machine.hpp"

#include <gtest/gtest.h>

#include "rankloom/allocate/state/node_occupancy.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::networks_of_every_kind;
using testing::random_nodes;

TEST(RoutingRule, IsWhatWalkingAllRoutesFinds) {
  for (const std::string& text : networks_of_every_kind()) {
    for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
      const AllocationMachine machine = allocation_machine(text, exclusive);
      Random random(7);
      for (int i = 0; i < 60; ++i) {
        const auto nodes = random_nodes(random, machine.node_count(), 1 + random.below(machine.node_count()));
        Bits fast(machine.rule().passage_count()), walked(machine.rule().passage_count());
        machine.rule().add_passages(nodes, fast);
        walk_routes(machine.network(), exclusive, nodes, walked);
        ASSERT_EQ(fast, walked) << text << " " << name_of(exclusive) << ", " << nodes.size() << " nodes";
      }
    }
  }
}

TEST(RoutingRule, OfASingleNodeIsEmpty) {
  for (const std::string& text : networks_of_every_kind()) {
    const AllocationMachine machine = allocation_machine(text, Exclusive::routers);
    Bits passages(machine.rule().passage_count());
    const Node only[] = {Node{0}};
    machine.rule().add_passages(only, passages);
    EXPECT_EQ(passages.count(), 0) << text;
  }
}

TEST(DiameterOf, IsTheFarthestPair) {
  for (const std::string& text : networks_of_every_kind()) {
    const AllocationMachine machine = allocation_machine(text, Exclusive::routers);
    Random random(2);
    for (int i = 0; i < 20; ++i) {
      const auto nodes = random_nodes(random, machine.node_count(), 1 + random.below(machine.node_count()));
      std::uint32_t most = 0;
      for (const Node a : nodes) {
        for (const Node b : nodes) most = std::max(most, machine.network().hops(a, b));
      }
      EXPECT_EQ(diameter_of(machine.network(), nodes), most) << text;
    }
  }
}

TEST(AllocationMachine, RoundsTasksUpToNodes) {
  const auto machine = allocation_machine("mesh:4x4 core:12", Exclusive::routers);
  EXPECT_EQ(machine.cores_per_node(), 12);
  EXPECT_EQ(machine.nodes_for(1), 1);
  EXPECT_EQ(machine.nodes_for(12), 1);
  EXPECT_EQ(machine.nodes_for(13), 2);
  EXPECT_EQ(machine.nodes_for(192), 16);
}

TEST(AllocationMachine, KnowsTheHolesOfItsTopology) {
  const auto machine = allocation_machine("mesh:4x4 core:2 !node:5,9", Exclusive::routers);
  EXPECT_TRUE(machine.holes().test(5));
  EXPECT_TRUE(machine.holes().test(9));
  EXPECT_EQ(machine.holes().count(), 2);
  EXPECT_EQ(Occupancy(machine).free_count(), 14);
}

Allotment on(const AllocationMachine& machine, std::vector<Node> nodes) {
  Allotment allotment;
  allotment.passages = Bits(machine.rule().passage_count());
  machine.rule().add_passages(nodes, allotment.passages);
  allotment.nodes = std::move(nodes);
  return allotment;
}

TEST(Occupancy, IsAsBeforeWhenAllHaveLeft) {
  const auto machine = allocation_machine("torus:4x4 core:1", Exclusive::links);
  Occupancy occupancy(machine);
  Random random(1);
  std::vector<Allotment> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(on(machine, random_nodes(random, 16, 5)));
  for (const Allotment& job : jobs) occupancy.add(job);  // also where they overlap
  EXPECT_LT(occupancy.free_count(), 16);
  for (const Allotment& job : jobs) occupancy.remove(job);
  EXPECT_EQ(occupancy.free_count(), 16);
  EXPECT_EQ(occupancy.free().count(), 16);
  EXPECT_EQ(occupancy.held().count(), 0);
}

TEST(Occupancy, DrainsAroundTheJobThatIsThere) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  Occupancy occupancy(machine);
  const Allotment job = on(machine, {Node{5}, Node{6}});
  occupancy.add(job);
  occupancy.drain(Node{5}, false);
  EXPECT_EQ(occupancy.free_count(), 14);
  occupancy.remove(job);
  EXPECT_EQ(occupancy.free_count(), 15);
  EXPECT_FALSE(occupancy.free().test(5));
  occupancy.resume(Node{5});
  EXPECT_EQ(occupancy.free_count(), 16);
}

TEST(Occupancy, TakesAFailedNodeOutOfTheNetworkToo) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  Occupancy occupancy(machine);
  occupancy.drain(Node{5}, false);
  EXPECT_FALSE(occupancy.held().test(5));
  occupancy.drain(Node{5}, true);
  EXPECT_TRUE(occupancy.held().test(5));
  EXPECT_EQ(occupancy.free_count(), 15);
  occupancy.resume(Node{5});
  EXPECT_FALSE(occupancy.held().test(5));
  EXPECT_EQ(occupancy.free_count(), 16);
}

}  // namespace
}  // namespace rankloom
