// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "rankloom/allocate/routing/allocation_machine.hpp"
#include "rankloom/allocate/state/node_occupancy.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::networks_of_every_kind;
using testing::random_nodes;

TEST(RouteFootprint, EqualsTheResultOfWalkingAllRoutes) {
  for (const std::string& text : networks_of_every_kind()) {
    for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
      const AllocationMachine machine = allocation_machine(text, exclusive);
      Random random(7);
      for (int i = 0; i < 60; ++i) {
        const auto nodes = random_nodes(random, machine.node_count(), 1 + random.below(machine.node_count()));
        Bitset fast(machine.route_footprint().resource_count()), walked(machine.route_footprint().resource_count());
        machine.route_footprint().add_resources(nodes, fast);
        walk_routes(machine.network(), exclusive, nodes, walked);
        ASSERT_EQ(fast, walked) << text << " " << name_of(exclusive) << ", " << nodes.size() << " nodes";
      }
    }
  }
}

TEST(RouteFootprint, OfASingleNodeIsEmpty) {
  for (const std::string& text : networks_of_every_kind()) {
    const AllocationMachine machine = allocation_machine(text, Exclusive::routers);
    Bitset shared_resources(machine.route_footprint().resource_count());
    const Node only[] = {Node{0}};
    machine.route_footprint().add_resources(only, shared_resources);
    EXPECT_EQ(shared_resources.count(), 0) << text;
  }
}

TEST(DiameterOf, IsTheDistanceOfTheMostDistantPair) {
  for (const std::string& text : networks_of_every_kind()) {
    const AllocationMachine machine = allocation_machine(text, Exclusive::routers);
    Random random(2);
    for (int i = 0; i < 20; ++i) {
      const auto nodes = random_nodes(random, machine.node_count(), 1 + random.below(machine.node_count()));
      std::uint32_t expected = 0;
      for (const Node a : nodes) {
        for (const Node b : nodes) expected = std::max(expected, machine.network().hops(a, b));
      }
      EXPECT_EQ(diameter_of(machine.network(), nodes), expected) << text;
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

TEST(AllocationMachine, ExcludesTheHolesOfItsTopology) {
  const auto machine = allocation_machine("mesh:4x4 core:2 !node:5,9", Exclusive::routers);
  EXPECT_TRUE(machine.holes().test(5));
  EXPECT_TRUE(machine.holes().test(9));
  EXPECT_EQ(machine.holes().count(), 2);
  EXPECT_EQ(Occupancy(machine).free_count(), 14);
}

Allocation allocation_on(const AllocationMachine& machine, std::vector<Node> nodes) {
  Allocation allocation;
  allocation.shared_resources = Bitset(machine.route_footprint().resource_count());
  machine.route_footprint().add_resources(nodes, allocation.shared_resources);
  allocation.nodes = std::move(nodes);
  return allocation;
}

TEST(Occupancy, IsEmptyAgainAfterAllJobsEnd) {
  const auto machine = allocation_machine("torus:4x4 core:1", Exclusive::links);
  Occupancy occupancy(machine);
  Random random(1);
  std::vector<Allocation> jobs;
  for (int i = 0; i < 5; ++i) jobs.push_back(allocation_on(machine, random_nodes(random, 16, 5)));
  for (const Allocation& job : jobs) occupancy.add(job);  // jobs may overlap
  EXPECT_LT(occupancy.free_count(), 16);
  for (const Allocation& job : jobs) occupancy.remove(job);
  EXPECT_EQ(occupancy.free_count(), 16);
  EXPECT_EQ(occupancy.free_nodes().count(), 16);
  EXPECT_EQ(occupancy.used_resources().count(), 0);
}

TEST(Occupancy, DrainsANodeWithoutStoppingItsJob) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  Occupancy occupancy(machine);
  const Allocation job = allocation_on(machine, {Node{5}, Node{6}});
  occupancy.add(job);
  occupancy.drain(Node{5}, false);
  EXPECT_EQ(occupancy.free_count(), 14);
  occupancy.remove(job);
  EXPECT_EQ(occupancy.free_count(), 15);
  EXPECT_FALSE(occupancy.free_nodes().test(5));
  occupancy.resume(Node{5});
  EXPECT_EQ(occupancy.free_count(), 16);
}

TEST(Occupancy, AFailedNodeForwardsNoMessages) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  Occupancy occupancy(machine);
  occupancy.drain(Node{5}, false);
  EXPECT_FALSE(occupancy.used_resources().test(5));
  occupancy.drain(Node{5}, true);
  EXPECT_TRUE(occupancy.used_resources().test(5));
  EXPECT_EQ(occupancy.free_count(), 15);
  occupancy.resume(Node{5});
  EXPECT_FALSE(occupancy.used_resources().test(5));
  EXPECT_EQ(occupancy.free_count(), 16);
}

}  // namespace
}  // namespace rankloom
