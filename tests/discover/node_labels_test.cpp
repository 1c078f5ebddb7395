// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/kubernetes/node_labels.hpp"

#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "discover_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

constexpr const char* prefix = "network.topology.nvidia.com";

/// A node with these labels, as kubectl prints it.
std::string labelled_node(const std::string& name, const std::string& labels, int gpus = 8) {
  return fmt::format(
      R"({{"apiVersion": "v1", "kind": "Node", "metadata": {{"name": "{}", "annotations": {{"a": "{{\"b\": 1}}"}}, "labels": {{"kubernetes.io/hostname": "{}"{}}}}},
          "status": {{"capacity": {{"cpu": "96", "nvidia.com/gpu": "{}"}}}}}})",
      name, name, labels, gpus);
}

std::string list_of(const std::string& nodes) {
  return fmt::format(R"({{"apiVersion": "v1", "items": [{}], "kind": "List"}})", nodes);
}

std::string in_leaf(const std::string& name, const std::string& spine, const std::string& leaf) {
  return labelled_node(name, fmt::format(R"(, "{0}/spine": "{1}", "{0}/leaf": "{2}")", prefix, spine, leaf));
}

TEST(NodeLabels, BecomeLevelsOfSwitches) {
  const std::string text = list_of(in_leaf("n0", "s0", "l0") + "," + in_leaf("n1", "s0", "l1") + "," +
                                   in_leaf("n2", "s0", "l0") + "," + in_leaf("n3", "s1", "l2"));
  ASSERT_TRUE(is_node_labels(text));
  const Topology topology = topology_of(machine_of(read_node_labels, text));
  EXPECT_EQ(shape_of(topology), "spine 2, leaf 3, node 4, core 32");
  EXPECT_EQ(topology.node_name(Node{1}), "n2");  // with n0 below l0
  EXPECT_EQ(topology.node_name(Node{2}), "n1");
  const auto cost = [&](std::uint32_t a, std::uint32_t b) { return topology.cost(Core{a}, Core{b}).inverse_bandwidth; };
  EXPECT_LT(cost(0, 1), cost(0, 8));    // inside a node
  EXPECT_LT(cost(0, 8), cost(0, 16));   // below a leaf
  EXPECT_LT(cost(0, 16), cost(0, 24));  // below a spine
}

TEST(NodeLabels, ANvlinkDomainIsAsFastAsANode) {
  const auto node = [](const std::string& name, const std::string& domain) {
    return labelled_node(name, fmt::format(R"(, "{0}/block": "b0", "{0}/accelerator": "{1}")", prefix, domain), 4);
  };
  const std::string text = list_of(node("n0", "nvl0") + "," + node("n1", "nvl0") + "," + node("n2", "nvl1"));
  const Topology topology = topology_of(machine_of(read_node_labels, text));
  EXPECT_EQ(shape_of(topology), "leaf 1, nvlink 2, node 3, core 12");
  EXPECT_EQ(topology.cost(Core{0}, Core{1}), topology.cost(Core{0}, Core{4}));
  EXPECT_LT(topology.cost(Core{0}, Core{4}).inverse_bandwidth, topology.cost(Core{0}, Core{8}).inverse_bandwidth);
}

TEST(NodeLabels, AreAlsoReadFromYamlAndFromVersionOne) {
  const MachineSpec machine = machine_of(read_node_labels,
                                         "apiVersion: v1\n"
                                         "items:\n"
                                         "- metadata:\n"
                                         "    name: a\n"
                                         "    labels:\n"
                                         "      fabric.topograph.run/tier-0: sw1\n"
                                         "      accelerator.topograph.run/domain: d1\n"
                                         "- metadata:\n"
                                         "    name: b\n"
                                         "    labels:\n"
                                         "      fabric.topograph.run/tier-0: sw2\n"
                                         "kind: List\n");
  EXPECT_EQ(shape_of(topology_of(machine)), "leaf 2, nvlink 2, node 2, core 2");
}

TEST(NodeLabels, NodesWithoutLabelsAreLeftOutWithARemark) {
  const MachineSpec machine =
      machine_of(read_node_labels, list_of(in_leaf("n0", "s0", "l0") + "," + labelled_node("login", "")));
  EXPECT_EQ(topology_of(machine).node_count(), 1U);
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("1 nodes have no label"));
}

TEST(NodeLabels, ADividedDomainIsARemark) {
  const auto node = [](const std::string& name, const std::string& leaf) {
    return labelled_node(name, fmt::format(R"(, "{0}/leaf": "{1}", "{0}/accelerator": "d")", prefix, leaf));
  };
  const MachineSpec machine = machine_of(read_node_labels, list_of(node("a", "l0") + "," + node("b", "l1")));
  ASSERT_EQ(machine.remarks.size(), 1U);
  EXPECT_THAT(machine.remarks[0].what, HasSubstr("several leaf switches"));
}

TEST(NodeLabels, RejectWhatIsNotAListOfNodes) {
  const auto problem = [](const std::string& text) { return problem_of(read_node_labels, text); };
  EXPECT_THAT(problem(list_of(labelled_node("a", ""))), HasSubstr("no node has a label"));
  EXPECT_THAT(problem(list_of(in_leaf("a", "s", "l") + "," + in_leaf("a", "s", "l"))), HasSubstr("listed twice"));
  EXPECT_THAT(problem(list_of(in_leaf("a b", "s", "l"))), HasSubstr("not a host name"));
  EXPECT_THAT(problem("{\"items\": [{}]}"), HasSubstr("metadata.name"));
  EXPECT_THAT(problem(list_of(labelled_node("a", R"(, "network.topology.nvidia.com/leaf": "l")", 99999))),
              HasSubstr("not a number of GPUs"));
}

TEST(NodeLabels, EveryBeginningOfAFileIsAMachineOrAnError) {
  truncations_of(read_node_labels, list_of(in_leaf("n0", "s0", "l0") + "," + in_leaf("n1", "s0", "l1")));
}

}  // namespace
}  // namespace rankloom
