// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/model/machine/machine_spec.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

MachineSpec parsed(std::string_view text) {
  auto machine = parse_topology_string(text);
  EXPECT_TRUE(machine) << text << ": " << (machine ? "" : to_string(machine.error()));
  return machine ? std::move(*machine) : MachineSpec{};
}

Topology built(std::string_view text) {
  auto topology = Topology::build(parsed(text));
  EXPECT_TRUE(topology) << text << ": " << (topology ? "" : to_string(topology.error()));
  return *topology;
}

std::string problem(std::string_view text) {
  const auto machine = parse_topology_string(text);
  return machine ? "none" : to_string(machine.error());
}

/// "machine{10}(node x3{1}(core x4))": the machine in one line, costs in braces.
std::string sketch(const ObjectSpec& object) {
  std::string text = object.kind;
  if (object.repeat != 1) text += " x" + std::to_string(object.repeat);
  if (object.capacity != 1) text += " *" + std::to_string(object.capacity);
  if (object.between) {
    text += "{" + std::to_string(object.between->inverse_bandwidth).substr(0, 4);
    if (object.between->latency > 0) text += "," + std::to_string(static_cast<long>(object.between->latency));
    text += "}";
  }
  for (const ObjectSpec& child : object.children)
    text += (&child == object.children.data() ? "(" : " ") + sketch(child);
  return text + (object.children.empty() ? "" : ")");
}

std::string sketch_of(std::string_view text) {
  return sketch(parsed(text).root);
}

std::vector<std::uint32_t> capacities(std::string_view text) {
  const Topology topology = built(text);
  std::vector<std::uint32_t> result;
  for (const Core core : topology.cores()) result.push_back(topology.capacity(core));
  return result;
}

TEST(TopologyString, LevelsGoTopDownAndACostBelongsToTheParent) {
  EXPECT_EQ(sketch_of("switch:2=4.1 node:6=3.7 core:16=1"), "machine{4.10}(switch x2{3.70}(node x6{1.00}(core x16)))");
  EXPECT_EQ(sketch_of("node:12=10,2.5us package:2=2 core:8=1"),
            "machine{10.0,2500}(node x12{2.00}(package x2{1.00}(core x8)))");
  EXPECT_EQ(sketch_of("node:4 core:2"), "machine(node x4(core x2))");
  EXPECT_EQ(sketch_of("core:16"), "machine(core x16)");
}

TEST(TopologyString, CostsHaveUnits) {
  EXPECT_EQ(parsed("core:2=0.5").root.between, (Cost{0.5, 0}));
  EXPECT_EQ(parsed("core:2=10GB/s").root.between, (Cost{0.1, 0}));
  EXPECT_EQ(parsed("core:2=1,20").root.between, (Cost{1, 20}));
  EXPECT_EQ(parsed("core:2=1,20ns").root.between, (Cost{1, 20}));
  EXPECT_EQ(parsed("core:2=1,2ms").root.between, (Cost{1, 2e6}));
  EXPECT_EQ(parsed("core:2=1,1s").root.between, (Cost{1, 1e9}));
  EXPECT_EQ(parsed("core:2=1,0").root.between, (Cost{1, 0}));
}

TEST(TopologyString, CapacityFollowsTheCount) {
  EXPECT_EQ(sketch_of("core:16*2=1"), "machine{1.00}(core x16 *2)");
  EXPECT_EQ(sketch_of("node:4*3"), "machine(node x4(core *3))");
  EXPECT_THAT(capacities("node:2 core:2*3"), ElementsAre(3, 3, 3, 3));
}

TEST(TopologyString, UnevenCountsGoToTheParentsInOrder) {
  EXPECT_EQ(sketch_of("node:3 core:4+8+4"), "machine(node(core x4) node(core x8) node(core x4))");
  EXPECT_EQ(sketch_of("node:4=5 core:4+4+8+8=1"), "machine{5.00}(node x2{1.00}(core x4) node x2{1.00}(core x8))");
  EXPECT_EQ(sketch_of("switch:2 node:1+2 core:3"), "machine(switch(node(core x3)) switch(node x2(core x3)))");
  EXPECT_EQ(sketch_of("switch:2 node:1+2 core:3+4+5"),
            "machine(switch(node(core x3)) switch(node(core x4) node(core x5)))");
  EXPECT_EQ(sketch_of("switch:2 node:2 package:1+2+1+2 core:2"),
            "machine(switch x2(node(package(core x2)) node(package x2(core x2))))");
  EXPECT_EQ(sketch_of("mesh:3 core:1+2+1"), "machine(node(core) node(core x2) node(core))");
}

TEST(TopologyString, ACapacityBelongsToTheCountBeforeIt) {
  EXPECT_THAT(capacities("node:2 core:1+2*2"), ElementsAre(1, 2, 2));
  EXPECT_THAT(capacities("node:2 core:1*3+2*2"), ElementsAre(3, 2, 2));
}

TEST(TopologyString, HolesAreNumberedOverTheWholeMachine) {
  EXPECT_THAT(capacities("node:3 core:4 !core:5,7-8"), ElementsAre(1, 1, 1, 1, 1, 0, 1, 0, 0, 1, 1, 1));
  EXPECT_THAT(capacities("node:3 core:2 !node:1"), ElementsAre(1, 1, 0, 0, 1, 1));
  EXPECT_THAT(capacities("node:2 package:2 core:2 !package:1-2 !core:0"), ElementsAre(0, 1, 0, 0, 0, 0, 1, 1));
  EXPECT_THAT(capacities("torus:2x2 core:2 !node:3 !core:0,0,0-1"), ElementsAre(0, 0, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(capacities("node:2 core:1+3 !core:3"), ElementsAre(1, 1, 1, 0));
  EXPECT_EQ(sketch_of("node:1000000 core:4 !core:2000001"),
            "machine(node x500000(core x4) node(core core *0 core x2) node x499999(core x4))");
}

TEST(TopologyString, HolesAgreeWithAReferenceImplementation) {
  Random random(3);
  for (int i = 0; i < 200; ++i) {
    const auto count = [&](std::uint64_t most) { return 1 + random.below(most); };
    const std::uint64_t switches = count(3), nodes = count(4), cores = count(5);
    std::string text =
        "switch:" + std::to_string(switches) + " node:" + std::to_string(nodes) + " core:" + std::to_string(cores);
    std::vector<std::uint32_t> expected(switches * nodes * cores, 1);
    for (std::uint64_t holes = random.below(5); holes > 0; --holes) {
      const bool whole_node = random.below(3) == 0;
      const std::uint64_t each = whole_node ? cores : 1, objects = expected.size() / each;
      const std::uint64_t first = random.below(objects),
                          last = first + random.below(std::min<std::uint64_t>(objects - first, 4));
      text += std::string(whole_node ? " !node:" : " !core:") + std::to_string(first) + "-" + std::to_string(last);
      std::fill(expected.begin() + static_cast<std::ptrdiff_t>(first * each),
                expected.begin() + static_cast<std::ptrdiff_t>((last + 1) * each), 0);
    }
    EXPECT_EQ(capacities(text), expected) << text;
  }
}

TEST(TopologyString, NetworksImplyTheirNodes) {
  const Topology torus = built("torus:8x8x8=10,500ns core:4");
  EXPECT_EQ(torus.node_count(), 512U);
  EXPECT_EQ(torus.core_count(), 2048U);
  EXPECT_TRUE(torus.routed());
  EXPECT_EQ(torus.network().text(), "torus:8x8x8=10,500ns");
  EXPECT_EQ(torus.cost(Core{0}, Core{4}), (Cost{10, 500}));
  EXPECT_EQ(built("mesh:16x16 core:8=1").core_count(), 2048U);
  EXPECT_EQ(built("dragonfly:9,4,2").network().text(), "dragonfly:9,4,2,2=1");
  EXPECT_EQ(built("dragonfly:3,2,2,3=2 core:1").network().text(), "dragonfly:3,2,2,3=2");
  EXPECT_EQ(built("fattree:4,8,16/4,4,1").network().text(), "fattree:4,8,16/4,4,1=1");
}

TEST(TopologyString, AFatTreeWithoutParentsHasAsManyLinksUpAsDown) {
  EXPECT_EQ(built("fattree:4,8,16=2").network().text(), "fattree:4,8,16/8,16,1=2");
  EXPECT_EQ(built("fattree:k=8=10GB/s,1us").network().text(), "fattree:8,4,4/4,4,1=0.1,1000ns");
  EXPECT_EQ(built("fattree:k=8").node_count(), 128U);
}

TEST(TopologyString, ATreeIsAHierarchyWhoseCostsAreHops) {
  EXPECT_EQ(sketch_of("tree:4,3,2=0.5,10ns core:12=0.1"),
            "machine{3.00,60}(switch x4{2.00,40}(switch x3{1.00,20}(node x2{0.10}(core x12))))");
  const Topology tree = built("tree:4,4,4 core:12");
  EXPECT_EQ(tree.node_count(), 64U);
  EXPECT_FALSE(tree.routed());
  EXPECT_EQ(tree.hops(Core{0}, Core{12}), 2U);
  EXPECT_EQ(tree.hops(Core{0}, Core{767}), 6U);
  EXPECT_EQ(tree.cost(Core{0}, Core{12}).inverse_bandwidth, 20);
  EXPECT_EQ(tree.cost(Core{0}, Core{767}).inverse_bandwidth, 60);
}

TEST(TopologyString, AbbreviationsInTheManualAreEquivalent) {
  EXPECT_EQ(sketch_of("tree:4,3,2=5 core:8=1"), sketch_of("switch:4=30 switch:3=20 node:2=10 core:8=1"));
  EXPECT_EQ(built("fattree:k=8").network().text(), built("fattree:8,4,4").network().text());
  EXPECT_EQ(built("fattree:4,8,16").network().text(), built("fattree:4,8,16/8,16,1").network().text());
  EXPECT_EQ(sketch(parse_hierarchy("4:8:6", "1:10:100")->root), sketch_of("node:6=100 package:8=10 core:4=1"));
  const Topology unsaid = built("node:4 package:2 core:8"), said = built("node:4=100 package:2=10 core:8=1");
  for (const Core core : unsaid.cores()) EXPECT_EQ(unsaid.cost(Core{0}, core), said.cost(Core{0}, core));
}

TEST(TopologyString, AHopCostsTenTimesTheHighestCostInsideANode) {
  EXPECT_EQ(built("mesh:4 core:8").network().per_hop(), (Cost{10, 0}));
  EXPECT_EQ(built("mesh:4 core:8=3").network().per_hop(), (Cost{30, 0}));
  EXPECT_EQ(built("mesh:4 package:2 core:8").network().per_hop(), (Cost{100, 0}));
  EXPECT_EQ(built("mesh:4 package:2=4 core:8=7").network().per_hop(), (Cost{70, 0}));
  EXPECT_EQ(built("mesh:4").network().per_hop(), (Cost{1, 0}));
  EXPECT_EQ(built("mesh:4 package:2 core:1").network().per_hop(), (Cost{10, 0}));
}

TEST(TopologyString, DetectsNodesWithoutTheirName) {
  EXPECT_EQ(built("core:16").node_count(), 1U);
  EXPECT_EQ(built("package:2 core:16").node_count(), 1U);
  EXPECT_EQ(built("cabinet:2 blade:4 core:8").node_count(), 8U);
  EXPECT_EQ(built("cabinet:2 blade:4 package:2 core:8").node_count(), 8U);
  EXPECT_EQ(built("switch:2 node:3").core_count(), 6U);
  EXPECT_EQ(built("node:3").core_count(), 3U);
  EXPECT_EQ(built("switch:2 blade:3").node_count(), 6U);
  EXPECT_EQ(built("switch:2 blade:3").core_count(), 6U);
}

TEST(TopologyString, BlanksAndCapitalsDoNotMatter) {
  EXPECT_EQ(sketch_of("  Node:2\t\tCore:4\r\n"), "machine(node x2(core x4))");
  EXPECT_EQ(parsed("node:2  core:4").text, "node:2  core:4");
}

TEST(TopologyString, ErrorsNameTheTokenAndShowTheSyntax) {
  const auto expect = [](std::string_view text, std::string_view what) {
    EXPECT_THAT(problem(text), HasSubstr("topology string: ")) << text;
    EXPECT_THAT(problem(text), HasSubstr(std::string(what))) << text;
    EXPECT_THAT(problem(text), HasSubstr("hint: ")) << text;
  };
  expect("", "there is no level");
  expect("   ", "there is no level");
  expect("!core:1", "there is no level");
  expect("node:4 cores", "\"cores\": this is not a level, a network or a hole");
  expect("4:8:6", "\"4:8:6\": this is not a level");
  expect("node:0 core:4", "\"node:0\": \"0\" is not a count");
  expect("node:-1 core:4", "\"-1\" is not a count");
  expect("node: core:4", "\"\" is not a count");
  expect("node:4.5 core:4", "\"4.5\" is not a count");
  expect("node:99999999999 core:4", "\"99999999999\" is not a count");
  expect("node:100000 core:100000", "core:100000: 10000000000 objects are more than");
  expect("node:4 core:4294967294", "more than the maximum of 16777216");
  expect("mesh:60000x60000 core:2", "mesh:60000x60000");
  expect("core:4=0", "\"0\" is neither a time per byte");
  expect("core:4=-1", "\"-1\" is neither");
  expect("core:4=nan", "\"nan\" is neither");
  expect("core:4=inf", "\"inf\" is neither");
  expect("core:4=1e999", "\"1e999\" is neither");
  expect("core:4=", "\"\" is neither");
  expect("core:4=1e300", "the cost \"1e300\" is not between 1e-40 and 1e+40");
  expect("core:4=1e-300", "the cost \"1e-300\" is not between");
  expect("torus:4x4=1e300 core:4", "the cost \"1e300\" is not between");
  expect("core:4=1,1e300", "\"1e300\" is not a latency");
  expect("core:4=1,", "\"\" is not a latency");
  expect("core:4=1,-2us", "\"-2us\" is not a latency");
  expect("core:4=1,2furlongs", "\"2furlongs\" is not a latency");
  expect("core:4=1,2,3", "\"2,3\" is not a latency");
  expect("core:4*0", "\"4*0\" is not a count times a capacity");
  expect("core:4*2*2", "not a count times a capacity");
  expect("node:4*2 core:4", "\"node:4*2\": only the last level");
  expect("node:3 core:4+8", "core:4+8: there are 2 counts for 3 parents");
  expect("core:4+8", "core:4+8: there are 2 counts for 1 parents");
  expect("node:2 core:4+0", "\"0\" is not a count");
  expect("node:2 rails:3 core:4", "4 cores of a node cannot be distributed over 3 rails");
  expect("rails:2 node:2 core:4", "\"rails:2\": rails belong to the nodes");
  expect("node:2 core:4 rails:2", "\"rails:2\": rails belong to the nodes");
  expect("node:2 rails:2 rails:2 core:4", "the nodes have rails already");
  expect("node:2 rails:0 core:4", "rails have a number from 1 to 256");
  expect("node:2 rails:2=5 core:4", "rails have a number from 1 to 256, and no cost");
  expect("node:2 rails core:4", "rails have a number");
  expect("node:2 core:4+", "\"\" is not a count");
  expect("node:2 node:3 core:1", "there is more than one level of nodes");
  expect("mesh:4 node:3 core:1", "there is more than one level of nodes");
  expect("node:4 mesh:4 core:1", "\"mesh:4\": only one network is allowed");
  expect("mesh:4 torus:4", "\"torus:4\": only one network is allowed");
  expect("node:2 core:4 !core:8", "\"!core:8\": core 8 is outside 0..7");
  expect("node:2 core:4 !core:3-1", "\"3-1\" is not a number or a range");
  expect("node:2 core:4 !core:a", "\"a\" is not a number or a range");
  expect("node:2 core:4 !core", "the excluded objects are missing");
  expect("node:2 core:4 !pu:1", "no level called \"pu\"");
  expect("tree:2,2,2 core:1 !switch:1", "several levels called \"switch\"");
  expect("mesh", "\"mesh\": the size of the network is missing");
  expect("mesh:", "\"\" is not a size");
  expect("mesh:4x0", "\"0\" is not a size");
  expect("mesh:4,4", "\"4,4\" is not a size");
  expect("mesh:4x4=0", "\"0\" is neither");
  expect("tree:4,x", "\"x\" is not a size");
  expect("fattree:4,4/1", "2 numbers of children but 1 of parents");
  expect("fattree:4/2/1", "only one /");
  expect("fattree:k=3", "even number");
  expect("fattree:k=", "even number");
  expect("fattree:k=4000000000", "too many nodes");
  expect("dragonfly:9,4", "groups,routers,nodes");
  expect("dragonfly:9,4,2,1", "cannot reach 8 other groups");
  expect("torus:99999x99999", "too many nodes");
}

TEST(TopologyString, TooManyLevelsAreRefused) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "group:1 ";
  EXPECT_THAT(problem(text), HasSubstr("more than 60 levels"));
  std::string tree = "tree:1";
  for (int i = 0; i < 1000; ++i) tree += ",1";
  EXPECT_THAT(problem(tree), HasSubstr("too many levels"));
}

TEST(TopologyString, RandomBytesAreAMachineOrAnError) {
  Random random(4);
  const std::string_view alphabet = "nodecor:=*+!,-x/ 0123459k.meshtu";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = i % 2 == 0 ? "node:3 core:4+8*2+1=3,1us !core:2-5" : "";
    for (std::uint64_t length = random.below(24); length > 0; --length) {
      const char letter =
          random.below(20) == 0 ? static_cast<char>(random.next()) : alphabet[random.below(alphabet.size())];
      text.insert(text.begin() + static_cast<std::ptrdiff_t>(random.below(text.size() + 1)), letter);
    }
    const auto machine = parse_topology_string(text);
    EXPECT_TRUE(machine || !machine.error().hint.empty()) << text;
  }
}

TEST(TopologyString, DevicesBelongToTheLevelBeforeThem) {
  const auto machine = Topology::build(*parse_topology_string("node:2=10 nic:1 numa:2=3 GPU:2 core:4=1"));
  ASSERT_TRUE(machine);
  std::vector<std::string> devices;
  for (const Topology::Device& device : machine->devices())
    devices.push_back(fmt::format("{} {} of node {} near {} to {}", device.kind, device.number, index(device.node),
                                  index(device.first), index(device.end) - 1));
  EXPECT_THAT(devices, ::testing::UnorderedElementsAre(
                           "nic 0 of node 0 near 0 to 7", "gpu 0 of node 0 near 0 to 3", "gpu 1 of node 0 near 0 to 3",
                           "gpu 2 of node 0 near 4 to 7", "gpu 3 of node 0 near 4 to 7", "nic 0 of node 1 near 8 to 15",
                           "gpu 0 of node 1 near 8 to 11", "gpu 1 of node 1 near 8 to 11",
                           "gpu 2 of node 1 near 12 to 15", "gpu 3 of node 1 near 12 to 15"));
  const auto torus = Topology::build(*parse_topology_string("torus:2x2 gpu:4 core:8"));
  ASSERT_TRUE(torus);
  EXPECT_EQ(torus->devices().size(), 16u);
  for (const char* const text : {"gpu:2 core:4", "node:2 gpu:0 core:4", "node:2 gpu:2=3 core:4", "node:2 gpu core:4"})
    EXPECT_FALSE(parse_topology_string(text)) << text;
  EXPECT_FALSE(Topology::build(*parse_topology_string("switch:2 gpu:1 node:2 core:4"))) << "above the nodes";
  EXPECT_FALSE(Topology::build(*parse_topology_string("node:1000000 gpu:1000 core:4"))) << "too many";
}

TEST(TopologyString, ALinkConnectsAllGpusBelowTheLevelBeforeIt) {
  const Topology machine = built("node:2=10 GPU-Link=25GB/s,1us numa:2=3 gpu:2 gpu-link=0.005 core:4=1");
  std::vector<std::string> links;
  for (const Topology::GpuLink& link : machine.gpu_links())
    links.push_back(fmt::format("node {}: {} at {},{}", index(link.node), fmt::join(link.gpus, " "),
                                link.cost.inverse_bandwidth, link.cost.latency));
  EXPECT_THAT(links, ElementsAre("node 0: 0 1 at 0.005,0", "node 0: 2 3 at 0.005,0", "node 0: 0 1 2 3 at 0.04,1000",
                                 "node 1: 0 1 at 0.005,0", "node 1: 2 3 at 0.005,0", "node 1: 0 1 2 3 at 0.04,1000"));
  EXPECT_EQ(built("torus:2x2 gpu-link=0.1 gpu:4 core:8").gpu_links().size(), 4U);
  EXPECT_EQ(built("tree:2,2 gpu:4 gpu-link=0.1 core:8").gpu_links().size(), 4U);
  EXPECT_THAT(problem("gpu-link=0.1 node:2 gpu:2 core:4"), HasSubstr("belongs to the level before it"));
  EXPECT_THAT(problem("node:2 gpu-link=0.1 gpu-link=0.2 gpu:2 core:4"), HasSubstr("has a link between its GPUs"));
  for (const char* const text : {"node:2 gpu-link gpu:2 core:4", "node:2 gpu-link:2 gpu:2 core:4"})
    EXPECT_THAT(problem(text), HasSubstr("a link between GPUs has a cost, and no number: gpu-link=0.02"));
  EXPECT_THAT(problem("node:2 gpu-link= gpu:2 core:4"), HasSubstr("\"\" is neither a time per byte"));
  EXPECT_THAT(problem("node:2 gpu-link=0 gpu:2 core:4"), HasSubstr("\"gpu-link=0\": \"0\" is neither"));
}

}  // namespace
}  // namespace rankloom
