// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

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
  EXPECT_LT(topology.cost(Core{0}, Core{3}).inverse_bandwidth, topology.cost(Core{0}, Core{4}).inverse_bandwidth);
}

TEST(Slurm, TheOutputOfScontrolIsTheSameMachine) {
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

TEST(Slurm, LeafSwitchesAreOneLevelAtAnyDepth) {
  const MachineSpec machine = machine_of(read_slurm_topology,
                                         "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\nSwitchName=m "
                                         "Switches=a,b\nSwitchName=c Nodes=n[4-5]\nSwitchName=top Switches=m,c\n");
  const Topology topology = topology_of(machine);
  EXPECT_EQ(shape_of(topology), "switch 2, switch 3, node 6, core 6");
  EXPECT_EQ(topology.cost(Core{0}, Core{1}), topology.cost(Core{4}, Core{5}));
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("unequal depths below top"));
}

TEST(Slurm, HostsOfAHigherSwitchAreCloseToEachOther) {
  const Topology topology = topology_of(
      machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=top Nodes=m[0-1] Switches=a\n"));
  EXPECT_EQ(nodes_of(topology), "m0 m1 n0 n1");
  EXPECT_EQ(topology.cost(Core{0}, Core{1}), topology.cost(Core{2}, Core{3}));
  EXPECT_LT(topology.cost(Core{0}, Core{1}).inverse_bandwidth, topology.cost(Core{0}, Core{2}).inverse_bandwidth);
}

TEST(Slurm, DisconnectedPartsAreRemarked) {
  const MachineSpec machine = machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=b Nodes=n[2-3]\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "switch 2, node 4, core 4");
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("2 parts without a common switch: below a, b"));
}

TEST(Slurm, SwitchesWithoutNodesAreLeftOutAndRemarked) {
  const MachineSpec machine =
      machine_of(read_slurm_topology, "SwitchName=a Nodes=n[0-1]\nSwitchName=b\nSwitchName=top Switches=a,b\n");
  EXPECT_EQ(topology_of(machine).node_count(), 2U);
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("no node is below b"));
}

TEST(Slurm, ErrorsNameTheLine) {
  const auto problem = [](const char* text) { return problem_of(read_slurm_topology, text); };
  EXPECT_THAT(problem("SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n3\n"),
              HasSubstr("file:2: the node n3 already belongs to switch a in line 1"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=a Nodes=n1\n"),
              HasSubstr("file:2: the switch a is already defined"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=t Switches=a,b\n"),
              HasSubstr("file:2: switch b is a child of t but has no entry"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nSwitchName=t Switches=a\nSwitchName=u Switches=a\n"),
              HasSubstr("file:3: switch a is a child of both t and u"));
  EXPECT_THAT(problem("SwitchName=c Nodes=n0\nSwitchName=a Switches=b\nSwitchName=b Switches=a\n"),
              HasSubstr("file:2: switch a is below itself"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n[0-\n"), HasSubstr("file:1: "));
  EXPECT_THAT(problem("SwitchName=a Nodes=ALL\n"), HasSubstr("only Slurm can resolve"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0 Nodes=n1\n"), HasSubstr("Nodes is given twice"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nNodeName=x\n"), HasSubstr("file:2: "));
  EXPECT_THAT(problem("SwitchName=a\n"), HasSubstr("names no node"));
  EXPECT_THAT(problem("SwitchName=a Nodes=n0\nBlockName=b Nodes=n1\n"), HasSubstr("both switches and blocks"));
}

TEST(Slurm, BlocksAreNestedInLargerBlocks) {
  const MachineSpec machine =
      machine_of(read_slurm_topology,
                 "BlockName=b1 Nodes=n[1-4]\nBlockName=b2 Nodes=n[5-8]\nBlockName=b3 Nodes=n[9-12]\nBlockName=b4 "
                 "Nodes=n[13-16]\nBlockSizes=4,8\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 4, node 16, core 16");
}

TEST(Slurm, AggregatedBlocksOfScontrolAreNested) {
  const MachineSpec machine = machine_of(
      read_slurm_topology,
      "BlockName=b1 BlockIndex=0 Nodes=n[1-2] BlockSize=2\nBlockName=b2 BlockIndex=1 Nodes=n[3-4] BlockSize=2\n"
      "BlockName=b3 BlockIndex=2 Nodes=n[5-6] BlockSize=2\nBlockName=b4 BlockIndex=3 Nodes=n[7-8] BlockSize=2\n"
      "AggregatedBlock=b[1-2] BlockIndex=4 Nodes=n[1-4] BlockSize=4\nAggregatedBlock=b[3-4] BlockIndex=5 Nodes=n[5-8] "
      "BlockSize=4\nAggregatedBlock=b[1-4] BlockIndex=6 Nodes=n[1-8] BlockSize=8\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 4, node 8, core 8");
}

constexpr const char* several_topologies = R"(---
# The example of the manual page topology.yaml(5), with a tree of two levels.
- topology: topo1
  cluster_default: True
  tree:
    switches:
    - switch: sw_root
      children: s[1-2]
    - switch: s1
      nodes: node[01-04]   # one rack
    - switch: s2
      nodes: node[05-08]
- topology: topo2
  cluster_default: False
  block:
    block_sizes:
      - 4
      - 16
    blocks:
    - block: b1
      nodes: node[01-04]
    - block: b2
      nodes: node[05-08]
- topology: topo3
  cluster_default: False
  flat: True
)";

/// The same tree of two switches in every notation that YAML has for it.
constexpr const char* notations[] = {
    // Lists indented below their keys.
    "- topology: t\n  tree:\n    switches:\n      - switch: s0\n        nodes: n[0-1]\n      - switch: s1\n"
    "        nodes: n[2-3]\n      - switch: top\n        children: s[0-1]\n",
    // A single topology without the list around it.
    "topology: t\ntree:\n  switches:\n  - switch: s0\n    nodes: n[0-1]\n  - switch: s1\n    nodes: n[2-3]\n"
    "  - switch: top\n    children: s[0-1]\n",
    // Flow mappings and flow sequences on one line.
    "- {topology: t, tree: {switches: [{switch: s0, nodes: 'n[0-1]'}, {switch: s1, nodes: \"n[2-3]\"}, "
    "{switch: top, children: [s0, s1]}]}}\n",
    // Flow sequences over several lines, with comments and a trailing comma.
    "%YAML 1.1\n---\n- topology: t\n  tree:\n    switches: [\n      # the racks\n      {switch: s0, nodes: [n0, n1]},\n"
    "      {switch: s1,\n       nodes: [n2,\n               n3]},\n      {switch: top, children: [s0, s1]},\n    ]\n",
    // Quoted keys and values, lists of names over several lines.
    "- \"topology\": 't'\n  'tree':\n    \"switches\":\n      - \"switch\": 's0'\n        nodes:\n          - n0\n"
    "          - \"n1\"\n      - switch: s1\n        nodes: ['n[2-3]']\n      - switch: top\n        children:\n"
    "        - s0\n        - s1\n",
    // A folded scalar, an anchor with its alias, a value on the next line.
    "- topology: t\n  tree:\n    switches:\n      - switch: &first s0\n        nodes:\n          n[0-1]\n"
    "      - switch: s1\n        nodes: >-\n          n2,n3\n      - switch: top\n        children: [*first, s1]\n",
};

TEST(SlurmYaml, EveryNotationOfYamlGivesTheSameMachine) {
  for (const char* const text : notations) {
    EXPECT_TRUE(is_slurm_yaml(text)) << text;
    const Topology topology = topology_of(machine_of(read_slurm_yaml, text));
    EXPECT_EQ(shape_of(topology), "switch 2, node 4, core 4") << text;
    EXPECT_EQ(nodes_of(topology), "n0 n1 n2 n3") << text;
  }
}

TEST(SlurmYaml, ReadsTheClusterDefault) {
  const MachineSpec machine = machine_of(read_slurm_yaml, several_topologies);
  const Topology topology = topology_of(machine);
  EXPECT_EQ(shape_of(topology), "switch 2, node 8, core 8");
  EXPECT_EQ(topology.node_name(Node{7}), "node08");
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("3 topologies; the cluster default is used"));
}

TEST(SlurmYaml, ReadsTheFirstTopologyWhenNoneIsTheDefault) {
  const MachineSpec machine =
      machine_of(read_slurm_yaml,
                 "- topology: a\n  block: {blocks: [{block: b1, nodes: 'n[1-2]'}]}\n- topology: b\n  flat: true\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "node 2, core 2");
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("the first one, since none is the cluster default"));
}

TEST(SlurmYaml, ReadsBlocksAndBlockSizes) {
  const char* const sizes[] = {"    block_sizes: [2, 4]\n", "    block_sizes:\n      - 2\n      - 4\n",
                               "    block_sizes:\n    - 2\n    - 4\n", "    block_sizes: [\n      2,\n      4]\n"};
  for (const char* const text : sizes) {
    const MachineSpec machine = machine_of(
        read_slurm_yaml, std::string("- topology: t\n  block:\n") + text +
                             "    blocks:\n      - block: b1\n        nodes: n[1-2]\n      - block: b2\n        nodes: "
                             "n[3-4]\n      - block: b3\n        nodes: n[5-6]\n");
    EXPECT_EQ(shape_of(topology_of(machine)), "block 2, block 3, node 6, core 6");
  }
}

TEST(SlurmYaml, AFlatTopologyHasTheNodesThatOtherTopologiesName) {
  const MachineSpec machine = machine_of(
      read_slurm_yaml,
      "- {topology: f, cluster_default: yes, flat: true}\n- topology: t\n  tree:\n    switches:\n    - switch: s\n"
      "      nodes: n[0-3]\n- topology: b\n  block:\n    blocks:\n    - block: b1\n      nodes: n[2-5]\n");
  const Topology topology = topology_of(machine);
  EXPECT_EQ(nodes_of(topology), "n0 n1 n2 n3 n4 n5");
  EXPECT_EQ(shape_of(topology), "node 6, core 6");
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("the topology is flat; its nodes are the 6 nodes"));
}

TEST(SlurmYaml, ErrorsNameTheLineAndTheRemedy) {
  const auto problem = [](const std::string& text) { return problem_of(read_slurm_yaml, text); };
  EXPECT_THAT(problem("- topology: t\n\ttree:\n"), HasSubstr("file:2: invalid YAML"));
  EXPECT_THAT(problem("- topology: t\n\ttree:\n"), HasSubstr("indent with spaces"));
  EXPECT_THAT(problem("- topology: t\n  flat: true\n"),
              HasSubstr("file:1: this topology is flat and the file names no"));
  EXPECT_THAT(problem("- topology: t\n  flat: false\n"), HasSubstr("file:1: this topology has none of the keys tree"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches: none\n"),
              HasSubstr("file:3: the list \"switches\" is missing"));
  EXPECT_THAT(problem("- topology: t\n  tree: &anchor\n"), HasSubstr("file:2: the list \"switches\" is missing"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n      - nodes: n1\n"),
              HasSubstr("file:4: this entry of \"switches\" has no key \"switch\""));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n      - switch: s\n          nodes: n1\n"),
              HasSubstr("file:5: invalid YAML: mapping values are not allowed"));
  EXPECT_THAT(problem("- topology: t\n  tree: {switches: [{switch: s, nodes: n1}\n"),
              HasSubstr("brackets and quotes of this line"));
  EXPECT_THAT(problem("- topology: t\n  topology: u\n"), HasSubstr("file:2: the key \"topology\" is given twice"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes:\n        a: b\n"),
              HasSubstr("file:6: \"nodes\" is not a list of names"));
  EXPECT_THAT(problem("- topology: t\n  tree:\n    switches:\n    - switch: s\n      nodes: [n0, 'n[3-1]']\n"),
              HasSubstr("file:5: \"3-1\""));
  EXPECT_THAT(problem("- topology: t\n  block:\n    block_sizes: [4,\n      6]\n    blocks: []\n"),
              HasSubstr("file:4: block_sizes: \"6\""));
  EXPECT_THAT(problem("- topology: t\n  tree: *unknown\n"), HasSubstr("file:2: invalid YAML: found undefined alias"));
  EXPECT_THAT(problem("topology: t\nflat: true\n---\ntopology: u\n"), HasSubstr("file:4: a second YAML document"));
  EXPECT_THAT(problem("just words\n"), HasSubstr("is not a list of topologies"));
  EXPECT_THAT(problem("# nothing\n"), HasSubstr("is empty"));
}

TEST(SlurmYaml, AnAliasThatContainsItselfIsRefused) {
  EXPECT_THAT(problem_of(read_slurm_yaml, "- topology: t\n  tree: &tree\n    switches: &list [*list]\n"),
              HasSubstr("file:3: "));
}

TEST(SlurmYaml, DeeplyNestedBracketsAreRefused) {
  EXPECT_THAT(problem_of(read_slurm_yaml, "- topology: t\n  tree: " + std::string(200'000, '[')),
              HasSubstr("file:2: the brackets are nested too deep"));
  EXPECT_FALSE(read_slurm_yaml(FileContents("file", "- topology: t\n  tree: " + std::string(199, '['))));
}

TEST(SlurmYaml, DeeplyNestedListsAreErrors) {
  std::string dashes;
  for (int i = 0; i < 20'000; ++i) dashes += "- ";
  EXPECT_FALSE(read_slurm_yaml(FileContents("file", "- topology: t\n  tree:\n   " + dashes + "x")));
}

TEST(SlurmYaml, AliasesOfLongListsHaveALimit) {
  std::string text = "- topology: t\n  tree:\n    switches:\n    - {switch: s, nodes: [&a 'n[1-262144]'";
  for (int i = 0; i < 1000; ++i) text += ", *a";
  EXPECT_THAT(problem_of(read_slurm_yaml, text + "]}\n"), HasSubstr("name too many hosts"));
}

TEST(Slurm, ListsOfAllSwitchesTogetherHaveALimit) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "SwitchName=s" + std::to_string(i) + " Nodes=n[1-262144]\n";
  EXPECT_THAT(problem_of(read_slurm_topology, text), HasSubstr("name too many hosts"));
}

TEST(SlurmYaml, ATruncatedFileIsAnErrorOrHasFewerNodes) {
  const Truncations block = truncations_of(read_slurm_yaml, several_topologies);
  EXPECT_GT(block.errors, 0U);
  EXPECT_GT(block.machines, 0U);
  EXPECT_EQ(block.max_nodes, 8U);
  // The last bracket closes the flow sequence; only the end of its line may be missing.
  EXPECT_EQ(truncations_of(read_slurm_yaml, notations[3]).machines, 2U);
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
  EXPECT_TRUE(is_slurm_yaml(several_topologies));
  EXPECT_FALSE(is_slurm_topology(several_topologies));
  EXPECT_FALSE(is_slurm_yaml(two_levels));
  EXPECT_FALSE(is_slurm_topology("node1 4\n"));
  EXPECT_FALSE(is_slurm_yaml("node:4 core:8\n"));
  EXPECT_FALSE(is_slurm_yaml("tree:4,4 core:8\n"));
  EXPECT_FALSE(is_slurm_yaml("topology 4\n"));
}

}  // namespace
}  // namespace rankloom
