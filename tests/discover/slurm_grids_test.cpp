// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/model/machine/network/network.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

std::uint32_t hops(const Topology& topology, const std::string& from, const std::string& to) {
  std::optional<Node> a, b;
  for (const Node node : topology.nodes()) {
    if (topology.node_name(node) == from) a = node;
    if (topology.node_name(node) == to) b = node;
  }
  EXPECT_TRUE(a && b) << from << " " << to;
  return a && b ? topology.network().hops(*a, *b) : 0;
}

TEST(SlurmYaml, ARingIsATorusOfOneDimension) {
  const Topology topology = topology_of(
      machine_of(read_slurm_yaml, "- topology: r\n  ring:\n    rings:\n    - ring: a\n      nodes: n[0-7]\n"));
  EXPECT_THAT(topology.network().text(), HasSubstr("torus:8"));
  EXPECT_EQ(nodes_of(topology), "n0 n1 n2 n3 n4 n5 n6 n7");
  EXPECT_EQ(hops(topology, "n0", "n7"), 1U);
  EXPECT_EQ(hops(topology, "n0", "n4"), 4U);
}

TEST(SlurmYaml, TheFirstCoordinateOfATorusChangesFastest) {
  const char* const notations[] = {
      "- topology: t\n  torus3d:\n    toruses:\n    - {name: pod, dims: {x: 4, y: 2, z: 3}, nodes: 'n[0-23]'}\n",
      "- topology: t\n  torus3d:\n    toruses:\n    - name: pod\n      dims:\n        x: 4\n        y: 2\n        z: "
      "3\n"
      "      nodes: n[0-23]\n      placements:\n      - dims: {x: 2, y: 2, z: 1}\n        anchor_seed: {x: 1, y: 0, z: "
      "0}\n"};
  for (const char* const text : notations) {
    EXPECT_TRUE(is_slurm_yaml(text));
    const Topology topology = topology_of(machine_of(read_slurm_yaml, text));
    EXPECT_THAT(topology.network().text(), HasSubstr("torus:3x2x4"));
    EXPECT_EQ(hops(topology, "n0", "n3"), 1U);   // around x
    EXPECT_EQ(hops(topology, "n0", "n4"), 1U);   // y
    EXPECT_EQ(hops(topology, "n0", "n16"), 1U);  // around z
    EXPECT_EQ(hops(topology, "n0", "n14"), 4U);  // 2 in x, 1 in y, 1 in z
  }
}

TEST(SlurmYaml, CellsOutsideOfAllRegionsCarryMessagesButNoRanks) {
  const MachineSpec machine = machine_of(
      read_slurm_yaml,
      "- topology: t\n  torus3d:\n    toruses:\n    - name: pod\n      dims: {x: 4, y: 2, z: 1}\n      regions:\n"
      "      - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 1, y: 2, z: 1}, nodes: 'a[0-1]'}\n"
      "      - {anchor: {x: 2, y: 0, z: 0}, dims: {x: 2, y: 2, z: 1}, nodes: 'b[0-3]'}\n");
  const Topology topology = topology_of(machine);
  EXPECT_EQ(nodes_of(topology), "a0 pod-cell1 b0 b1 a1 pod-cell5 b2 b3");
  EXPECT_EQ(hops(topology, "a0", "b0"), 2U);
  EXPECT_EQ(hops(topology, "a0", "b1"), 1U);
  EXPECT_EQ(topology.capacity(Core{1}), 0U);
  EXPECT_EQ(topology.capacity(Core{2}), 1U);
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("2 of 8 cells of the torus have no node of Slurm"));
}

TEST(SlurmYaml, SeveralRingsAreConnectedByASwitch) {
  const MachineSpec machine = machine_of(
      read_slurm_yaml,
      "- topology: r\n  ring:\n    rings:\n    - {ring: a, nodes: 'a[0-7]'}\n    - {ring: b, nodes: 'b[0-4]'}\n");
  const Topology topology = topology_of(machine);
  EXPECT_EQ(hops(topology, "a0", "a4"), 4U);  // not over the switch
  EXPECT_EQ(hops(topology, "b4", "b0"), 1U);
  EXPECT_EQ(hops(topology, "a0", "b0"), 2U);
  EXPECT_EQ(hops(topology, "b2", "a5"), 2U);
  EXPECT_THAT(machine.remarks.at(0).what, HasSubstr("how its 2 rings or tori are connected"));
}

TEST(SlurmYaml, AFlatTopologyHasOptionsAndTheNodesOfTori) {
  const MachineSpec machine = machine_of(
      read_slurm_yaml,
      "- topology: f\n  cluster_default: true\n  flat:\n    alpha_step_rank: true\n- topology: t\n  torus3d:\n"
      "    toruses: [{name: pod, dims: {x: 2, y: 2, z: 1}, nodes: 'n[0-3]'}]\n- topology: r\n  ring:\n"
      "    rings: [{ring: a, nodes: 'n[2-5]'}]\n");
  EXPECT_EQ(nodes_of(topology_of(machine)), "n0 n1 n2 n3 n4 n5");
}

TEST(SlurmYaml, ErrorsInRingsAndToriNameTheLineAndTheRemedy) {
  const auto problem = [](const std::string& text) { return problem_of(read_slurm_yaml, text); };
  const auto torus = [&](const std::string& text) {
    return problem("- topology: t\n  torus3d:\n    toruses:\n    - name: pod\n" + text);
  };
  EXPECT_THAT(problem("- topology: r\n  ring:\n    rings: none\n"), HasSubstr("file:3: the list \"rings\" is missing"));
  EXPECT_THAT(problem("- topology: r\n  ring:\n    rings:\n    - ring: a\n"),
              HasSubstr("file:4: this ring has no nodes"));
  EXPECT_THAT(problem("- topology: r\n  ring:\n    rings:\n    - {ring: a, nodes: n1}\n    - {ring: b, nodes: n1}\n"),
              HasSubstr("file:5: the node n1 is in a and in b"));
  EXPECT_THAT(problem("- topology: t\n  torus3d:\n    torus: []\n"), HasSubstr("the list \"toruses\" is missing"));
  EXPECT_THAT(problem("- topology: t\n  torus3d:\n    toruses: []\n"), HasSubstr("names no nodes"));
  EXPECT_THAT(problem("- topology: t\n  torus3d:\n    toruses:\n    - dims: {x: 1}\n"),
              HasSubstr("file:4: this torus has no name"));
  EXPECT_THAT(torus("      nodes: n[1-4]\n"), HasSubstr("\"dims\" is missing or not a mapping"));
  EXPECT_THAT(torus("      dims: 4x4\n"), HasSubstr("file:5: \"dims\" is missing or not a mapping"));
  EXPECT_THAT(torus("      dims: {x: 4, y: 0, z: 1}\n"), HasSubstr("file:5: dims: y is not a positive number"));
  EXPECT_THAT(torus("      dims: {x: 4, y: 1}\n"), HasSubstr("file:5: dims: z is not a positive number"));
  EXPECT_THAT(torus("      dims: {x: 4, x: 4, y: 1, z: 1}\n"), HasSubstr("the key \"x\" is given twice"));
  EXPECT_THAT(torus("      dims: {x: 100000, y: 100000, z: 1}\n"), HasSubstr("more than 1048576 cells"));
  EXPECT_THAT(torus("      dims: {x: 2, y: 2, z: 1}\n      nodes: n[1-3]\n"),
              HasSubstr("dims 2x2x1 are 4 cells, but there are 3 nodes"));
  EXPECT_THAT(torus("      dims: {x: 2, y: 1, z: 1}\n      nodes: n1,n1\n"),
              HasSubstr("file:4: pod contains the node n1 twice"));
  EXPECT_THAT(torus("      dims: {x: 2, y: 1, z: 1}\n      nodes: n[1-2]\n      regions: []\n"),
              HasSubstr("file:7: this torus has nodes and regions"));
  const std::string regions = "      dims: {x: 2, y: 2, z: 1}\n      regions:\n";
  EXPECT_THAT(torus(regions + "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n"),
              HasSubstr("file:7: this region exceeds the torus"));
  EXPECT_THAT(torus(regions + "      - {anchor: {x: 0, y: 0, z: 0}, dims: {x: 2, y: 1, z: 1}, nodes: 'n[1-2]'}\n" +
                    "      - {anchor: {x: 1, y: 0, z: 0}, dims: {x: 1, y: 2, z: 1}, nodes: 'n[3-4]'}\n"),
              HasSubstr("file:8: this region contains the cell of n2"));
  EXPECT_THAT(problem("- topology: r\n  ring:\n    rings:\n    - {ring: a, nodes: 'a[1-3000]'}\n"
                      "    - {ring: b, nodes: 'b[1-3000]'}\n"),
              HasSubstr("together 6000 nodes; more than 4096 are not supported"));
}

TEST(SlurmYaml, ATruncatedTorusIsAnErrorOrHasFewerNodes) {
  const Truncations torus = truncations_of(
      read_slurm_yaml,
      "- topology: t\n  torus3d:\n    toruses:\n    - name: a\n      dims: {x: 2, y: 2, z: 1}\n      nodes: n[1-4]\n"
      "    - name: b\n      dims: {x: 3, y: 1, z: 1}\n      nodes: m[1-3]\n");
  EXPECT_GT(torus.errors, 0U);
  EXPECT_GT(torus.machines, 0U);
  EXPECT_EQ(torus.max_nodes, 7U);
}

}  // namespace
}  // namespace rankloom
