// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/slurm/slurm_topology.hpp"

#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/strings/hostlist.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> hosts(std::string_view text) {
  auto names = expand_hosts(text);
  EXPECT_TRUE(names) << text;
  return names ? *names : std::vector<std::string>{};
}

TEST(HostNames, AreWrittenOutAsSlurmMeansThem) {
  EXPECT_THAT(hosts("n1"), ElementsAre("n1"));
  EXPECT_THAT(hosts("n[08-10]"), ElementsAre("n08", "n09", "n10"));
  EXPECT_THAT(hosts("n[1,3-4],login"), ElementsAre("n1", "n3", "n4", "login"));
  EXPECT_THAT(hosts("r[0-1]n[1-2]-ib"), ElementsAre("r0n1-ib", "r0n2-ib", "r1n1-ib", "r1n2-ib"));
  EXPECT_THAT(hosts("n[099-101]"), ElementsAre("n099", "n100", "n101"));
}

TEST(HostNames, ThatAreWrongAreRefused) {
  for (const char* const text :
       {"", ",", "n[", "n]", "n[1", "n[3-1]", "n[a]", "n[[1]]", "n[0-4294967290]", "n[1-2-3]", "a[0-9999]b[0-9999]"}) {
    EXPECT_FALSE(expand_hosts(text)) << text;
  }
}

constexpr const char* two_levels =
    "# the cluster\n"
    "SwitchName=s0 Nodes=n[0-3] LinkSpeed=100\n"
    "switchname=s1 nodes=n[4-5],\\\n"
    "n[6-7]  # the second rack\n"
    "\n"
    "SwitchName=top Switches=s[0-1]\n";

TEST(Slurm, SwitchesBecomeLevels) {
  const Topology topology = topology_of(machine_of(read_slurm_topology, two_levels));
  EXPECT_EQ(shape_of(topology), "switch 2, node 8, core 8");
  EXPECT_EQ(nodes_of(topology), "n0 n1 n2 n3 n4 n5 n6 n7");
  EXPECT_LT(topology.cost(Core{0}, Core{3}).gap, topology.cost(Core{0}, Core{4}).gap);
}

TEST(Slurm, WhatScontrolPrintsIsTheSameMachine) {
  const MachineSpec printed =
      machine_of(read_slurm_topology,
                 "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=n[0-3]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=n[4-7]\n"
                 "SwitchName=top Level=1 LinkSpeed=1 Nodes=n[0-7] Switches=s[0-1]\n");
  const Topology topology = topology_of(printed);
  EXPECT_EQ(shape_of(topology), "switch 2, node 8, core 8");
  EXPECT_TRUE(printed.remarks.empty());
}

TEST(Slurm, OneSwitchIsTheMachineItself) {
  EXPECT_EQ(shape_of(topology_of(machine_of(read_slurm_topology, "SwitchName=s Nodes=a,b,c\n"))), "node 3, core 3");
}

TEST(Slurm, LowestSwitchesAreOneLevelWhateverTheirDepth) {
  const MachineSpec machine = machine_of(read_slurm_topology,
                                         "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=m "
                                         "Switches=a,b\nSwitchName=c Nodes=n[4-5]\nSwitchName=top Switches=m,c\n");
  const Topology topology = topology_of(machine);
  EXPECT_EQ(shape_of(topology), "switch 2, switch 3, node 6, core 6");
  EXPECT_EQ(topology.cost(Core{0}, Core{1}), topology.cost(Core{4}, Core{5}));
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("unequal depths below top"));
}

TEST(Slurm, HostsAtAHigherSwitchAreNearEachOther) {
  const Topology topology = topology_of(
      machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=top Nodes=m[0-1] Switches=a\n"));
  EXPECT_EQ(nodes_of(topology), "m0 m1 n0 n1");
  EXPECT_EQ(topology.cost(Core{0}, Core{1}), topology.cost(Core{2}, Core{3}));
  EXPECT_LT(topology.cost(Core{0}, Core{1}).gap, topology.cost(Core{0}, Core{2}).gap);
}

TEST(Slurm, PartsThatNothingJoinsAreRemarked) {
  const MachineSpec machine = machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "switch 2, node 4, core 4");
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("2 parts that nothing joins: below a, b"));
}

TEST(Slurm, SwitchesWithoutNodesAreLeftOutAndRemarked) {
  const MachineSpec machine =
      machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=b\nSwitchName=top Switches=a,b\n");
  EXPECT_EQ(topology_of(machine).node_count(), 2U);
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("no node is below b"));
}

TEST(Slurm, ContradictionsNameTheirLines) {
  const auto problem = [](const char* text) { return problem_of(read_slurm_topology, text); };
  EXPECT_THAT(problem("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n3\n"),
              HasSubstr("file:2: the node n3 is at switch a already in line 1"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n"),
              HasSubstr("file:2: the switch a stands there"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=t Switches=a,b\n"),
              HasSubstr("file:2: switch b is said to be"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=t Switches=a\nSwitchName=u Switches=a\n"),
              HasSubstr("file:3: switch a is below t and below u"));
  EXPECT_THAT(problem("SwitchName=c Nodes=n0\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
              HasSubstr("file:2: switch a is below itself"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n[0-\n"), HasSubstr("file:1: "));
  EXPECT_THAT(problem("SwitchName=a Nodes=ALL\n"), HasSubstr("only Slurm can resolve"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0 Nodes=n1\n"), HasSubstr("Nodes is given twice"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nNodeName=x\n"), HasSubstr("file:2: "));
  EXPECT_THAT(problem("SwitchName=a\n"), HasSubstr("names no node"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nBlockName=b Nodes=n1\n"), HasSubstr("switches and blocks"));
}

TEST(Slurm, BlocksStandInLargerBlocks) {
  const MachineSpec machine =
      machine_of(read_slurm_topology,
                 "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockName=b3 Nodes=n[9-12]\nBlockName=b4 "
                 "Nodes=n[13-16]\nBlockSizes=4,8\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 4, node 16, core 16");
}

TEST(Slurm, AggregatedBlocksThatScontrolPrintsNest) {
  const MachineSpec machine = machine_of(
      read_slurm_topology,
      "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
      "BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2\nBlockName=b4 BlockIndex=3 Nodes=n[7-8] BlockSize=2\n"
      "AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[1-4] BlockSize=4\nAggregatedBlock=b[3-4] BlockIndex=5 Nodes=n[5-8] "
      "BlockSize=4\nAggregatedBlock=b[1-4] BlockIndex=6 Nodes=n[1-8] BlockSize=8\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 4, node 8, core 8");
}

constexpr const char* yaml =
    "---\n"
    "# all of them\n"
    "- topology: other\n"
    "  flat: true\n"
    "- topology: main\n"
    "  cluster_default: true\n"
    "  tree:\n"
    "    switches:\n"
    "      - switch: s0\n"
    "        nodes: node[01-04]   # a rack\n"
    "      - switch: s1\n"
    "        nodes: [\"node05\", 'node[06-08]']\n"
    "      - switch: top\n"
    "        children: s[0-1]\n";

TEST(SlurmYaml, TheClustersDefaultTreeIsRead) {
  const MachineSpec machine = machine_of(read_slurm_yaml, yaml);
  const Topology topology = topology_of(machine);
  EXPECT_EQ(shape_of(topology), "switch 2, node 8, core 8");
  EXPECT_EQ(topology.node_name(Node{7}), "node08");
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("2 topologies; this is the cluster's default"));
}

TEST(SlurmYaml, BlocksAndTheirSizes) {
  const char* const sizes[] = {"    block_sizes: [2, 4]\n", "    block_sizes:\n      - 2\n      - 4\n",
                               "    block_sizes:\n    - 2\n    - 4\n"};
  for (const char* const text : sizes) {
    const MachineSpec machine = machine_of(
        read_slurm_yaml, std::string("- topology: t\n  block:\n") + text +
                             "    blocks:\n      - block: b1\n        nodes: n[1-2]\n      - block: b2\n        nodes: "
                             "n[3-4]\n      - block: b3\n        nodes: n[5-6]\n");
    EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 3, node 6, core 6");
  }
}

TEST(SlurmYaml, WhatIsWrongHasItsLine) {
  const auto problem = [](const std::string& text) { return problem_of(read_slurm_yaml, text); };
  EXPECT_THAT(problem("- topology: t\n\ttree:\n"), HasSubstr("file:2: a tab"));
  EXPECT_THAT(problem("- topology: t\n  flat: true\n"), HasSubstr("neither a tree nor blocks"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches: none\n"), HasSubstr("no list of switches"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n      - nodes: n1\n"),
              HasSubstr("file:4: this entry has no"));
  EXPECT_THAT(problem("- topology: t\n  tree: &anchor\n"), HasSubstr("file:2: "));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n      - switch: s\n          nodes: n1\n"),
              HasSubstr("file:5: "));
  EXPECT_THAT(problem("- topology: t\n  topology: u\n"), HasSubstr("given twice"));
}

TEST(SlurmYaml, NoCutOfTheFileCrashes) {
  const std::string text = yaml;
  for (std::size_t length = 0; length < text.size(); ++length)
    (void)read_slurm_yaml(FileContents("file", text.substr(0, length)));
}

TEST(SlurmAllocation, CountsBelongToTheirNodes) {
  const auto machine = read_slurm_allocation({.nodes = "n[1-3],m7", .slots = "16(x3),8"});
  ASSERT_TRUE(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(nodes_of(topology), "n1 n2 n3 m7");
  EXPECT_EQ(topology.core_count(), 56U);
  EXPECT_FALSE(read_slurm_allocation({.nodes = "n[1-3]", .slots = "16(x2)"}));
  EXPECT_FALSE(read_slurm_allocation({.nodes = "n[1-3]", .slots = "16(x"}));
  EXPECT_FALSE(read_slurm_allocation({.nodes = "n[1-", .slots = ""}));
}

TEST(Slurm, FilesAreRecognised) {
  EXPECT_TRUE(is_slurm_topology(two_levels));
  EXPECT_TRUE(is_slurm_yaml(yaml));
  EXPECT_FALSE(is_slurm_topology(yaml));
  EXPECT_FALSE(is_slurm_yaml(two_levels));
  EXPECT_FALSE(is_slurm_topology("node1 4\n"));
  EXPECT_FALSE(is_slurm_yaml("node:4 core:8\n"));
}

}  // namespace
}  // namespace rankloom
