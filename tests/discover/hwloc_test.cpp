// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/hwloc/hwloc.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/discover/default_costs.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

TEST(DefaultCosts, DecreaseFromTheTopDownInAnyOrderOfLevels) {
  const std::vector<std::vector<std::string>> machines{{"node", "package", "numa", "l3", "l2", "core", "pu"},
                                                       {"node", "numa", "package", "l2", "core", "pu"},
                                                       {"node", "group1", "group2", "package", "die", "group5", "pu"},
                                                       {"node", "l3", "numa", "core", "pu"},
                                                       {"node", "pu"}};
  for (const auto& kinds : machines) {
    const auto costs = default_level_costs(kinds);
    for (std::size_t level = 0; level + 1 < kinds.size(); ++level) {
      EXPECT_GT(costs[level].inverse_bandwidth, 1.05 * costs[level + 1].inverse_bandwidth) << kinds[level];
      EXPECT_GT(costs[level].latency, costs[level + 1].latency) << kinds[level];
    }
    EXPECT_GT(default_switch_cost(1).inverse_bandwidth, 2 * costs[0].inverse_bandwidth);
  }
  EXPECT_GT(default_switch_cost(2).inverse_bandwidth, default_switch_cost(1).inverse_bandwidth);
}

TEST(Hwloc, IsRecognised) {
  EXPECT_TRUE(
      is_hwloc_xml("<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology version=\"2.0\">"));
  EXPECT_FALSE(is_hwloc_xml("<html>"));
  EXPECT_FALSE(is_hwloc_xml("node1 4"));
}

#ifdef RANKLOOM_HAS_HWLOC

/// Two packages, the first with a NUMA node of its own, the second with two in groups; a group without processors.
constexpr const char* uneven = R"(<?xml version="1.0" encoding="UTF-8"?>
<topology version="VERSION">
 <object type="Machine" os_index="0" cpuset="0xf" complete_cpuset="0xff" allowed_cpuset="0xf" nodeset="0x7" complete_nodeset="0x7" allowed_nodeset="0x7" gp_index="1">
  <info name="HostName" value="odd"/>
  <object type="Package" os_index="0" cpuset="0x5" complete_cpuset="0x5" nodeset="0x1" complete_nodeset="0x1" gp_index="2">
   <object type="NUMANode" os_index="0" cpuset="0x5" complete_cpuset="0x5" nodeset="0x1" complete_nodeset="0x1" gp_index="3" local_memory="1024"/>
   <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="4">
    <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="5"/></object>
   <object type="Core" os_index="1" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1" complete_nodeset="0x1" gp_index="6">
    <object type="PU" os_index="2" cpuset="0x4" complete_cpuset="0x4" nodeset="0x1" complete_nodeset="0x1" gp_index="7"/></object>
  </object>
  <object type="Package" os_index="1" cpuset="0xa" complete_cpuset="0xa" nodeset="0x6" complete_nodeset="0x6" gp_index="8">
   <object type="Group" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="9" kind="0" subkind="0">
    <object type="NUMANode" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="10" local_memory="1024"/>
    <object type="Core" os_index="2" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="11">
     <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x2" complete_nodeset="0x2" gp_index="12"/></object>
   </object>
   <object type="Group" cpuset="0x8" complete_cpuset="0x8" nodeset="0x4" complete_nodeset="0x4" gp_index="13" kind="0" subkind="0">
    <object type="NUMANode" os_index="2" cpuset="0x8" complete_cpuset="0x8" nodeset="0x4" complete_nodeset="0x4" gp_index="14" local_memory="1024"/>
    <object type="Core" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x4" complete_nodeset="0x4" gp_index="15">
     <object type="PU" os_index="3" cpuset="0x8" complete_cpuset="0x8" nodeset="0x4" complete_nodeset="0x4" gp_index="16"/></object>
   </object>
  </object>
 </object>
</topology>
)";

std::string of_version(const char* version) {
  std::string text = uneven;
  return text.replace(text.find("VERSION"), 7, version);
}

TEST(Hwloc, NumaNodesAtDifferentDepthsAreOneLevel) {
  for (const char* const version : {"2.0", "3.0"}) {
    const Topology topology = topology_of(machine_of(read_hwloc_xml, of_version(version)));
    EXPECT_EQ(shape_of(topology), "node 1, package 2, group 3, numa 3, core 4, pu 4");
    EXPECT_EQ(topology.node_name(Node{0}), "odd");
    EXPECT_EQ(topology.os_index(Core{1}),
              2U);  // the operating system numbers the processing units round-robin over the packages
    EXPECT_LT(topology.cost(Core{0}, Core{1}).inverse_bandwidth, topology.cost(Core{2}, Core{3}).inverse_bandwidth);
    EXPECT_LT(topology.cost(Core{2}, Core{3}).inverse_bandwidth, topology.cost(Core{0}, Core{2}).inverse_bandwidth);
  }
}

/// A bus with a GPU of NVIDIA, which NVML counts in another order than the bus does, a card of InfiniBand, and graphics
/// of a service processor.
std::string bus(int package, int gpu) {
  const int first = 100 * (package + 1);
  return fmt::format(
      R"(<object type="Bridge" gp_index="{0}" bridge_type="0-1" depth="0" bridge_pci="0000:[{1}0-{1}f]">
      <object type="PCIDev" gp_index="{2}" pci_busid="0000:{1}1:00.0" pci_type="0302 [10de:2335] [10de:18bf] a1" pci_link_speed="63.0">
       <object type="OSDev" gp_index="{3}" name="nvml{5}" subtype="NVML" osdev_type="1"><info name="GPUModel" value="NVIDIA H200"/></object></object>
      <object type="PCIDev" gp_index="{4}" pci_busid="0000:{1}2:00.0" pci_type="0207 [15b3:1021] [15b3:0041] 00" pci_link_speed="63.0">
       <object type="OSDev" gp_index="{6}" name="mlx5_{7}" osdev_type="3"/></object>
      <object type="PCIDev" gp_index="{8}" pci_busid="0000:{1}3:00.0" pci_type="0300 [1a03:2000] [1a03:2000] 41" pci_link_speed="0.0"/>
     </object>)",
      first, package + 1, first + 1, first + 2, first + 3, gpu, first + 4, package, first + 5);
}

TEST(Hwloc, DevicesAreNearTheirNumaNode) {
  std::string text = of_version("2.0");
  const std::size_t second = text.find("</object>\n </object>\n</topology>");
  ASSERT_NE(second, std::string::npos);
  text.insert(second, bus(1, 0));
  text.insert(text.find("</object>\n  <object type=\"Package\" os_index=\"1\""), bus(0, 1));
  const Topology topology = topology_of(machine_of(read_hwloc_xml, text));
  EXPECT_EQ(shape_of(topology), "node 1, package 2, group 3, numa 3, core 4, pu 4") << "devices add no level";
  std::vector<std::string> devices;
  for (const Topology::Device& device : topology.devices())
    devices.push_back(fmt::format("{} {} {} {} near {} to {}", device.kind, device.number, device.name, device.address,
                                  index(device.first), index(device.end) - 1));
  EXPECT_THAT(devices, ::testing::UnorderedElementsAre(
                           "gpu 1 NVIDIA H200 0000:11:00.0 near 0 to 1", "nic 0 mlx5_0 0000:12:00.0 near 0 to 1",
                           "gpu 0 NVIDIA H200 0000:21:00.0 near 2 to 3", "nic 1 mlx5_1 0000:22:00.0 near 2 to 3"));
}

/// An element of a matrix; hwloc checks the length.
std::string matrix_part(const char* element, const std::string& content) {
  return fmt::format("<{0} length=\"{1}\">{2}</{0}>", element, content.size(), content);
}

/// The machine with two GPUs, NVML's numbers 1 and 0, at gp_index 102 and 202, and a matrix after its objects.
std::string with_matrix(const std::string& matrix, const std::string& more_devices = "") {
  std::string text = of_version("2.0");
  text.insert(text.find("</object>\n </object>\n</topology>"), bus(1, 0) + more_devices);
  text.insert(text.find("</object>\n  <object type=\"Package\" os_index=\"1\""), bus(0, 1));
  text.insert(text.find("</topology>"), matrix);
  return text;
}

std::vector<Topology::GpuLink> links_of_xml(const std::string& text) {
  const Topology topology = topology_of(machine_of(read_hwloc_xml, text));
  return {topology.gpu_links().begin(), topology.gpu_links().end()};
}

TEST(Hwloc, LinksBetweenGpusComeFromTheMatrixOfBandwidths) {
  EXPECT_TRUE(links_of_xml(with_matrix("")).empty());
  const auto links = links_of_xml(
      with_matrix("<distances2 type=\"OSDev\" nbobjs=\"2\" kind=\"9\" name=\"NVLinkBandwidth\" indexing=\"gp\">" +
                  matrix_part("indexes", "102 202 ") + matrix_part("u64values", "1000000 100000 100000 1000000 ") +
                  "</distances2>"));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_EQ(links[0].gpus, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_DOUBLE_EQ(links[0].cost.inverse_bandwidth, 0.01) << "100 GB/s";
  EXPECT_DOUBLE_EQ(links[0].cost.latency, 50) << "as between the processing units of a core";
}

TEST(Hwloc, GpusThatAreLinkedToSwitchesAreLinkedToEachOther) {
  // Two switches on the bus of the second package; 50 GB/s from each GPU to each of them.
  const std::string switches =
      R"(<object type="Bridge" gp_index="300" bridge_type="0-1" depth="0" bridge_pci="0000:[30-3f]">
      <object type="PCIDev" gp_index="301" subtype="NVSwitch" pci_busid="0000:31:00.0" pci_type="0680 [10de:1ac2] [0000:0000] a1" pci_link_speed="1.0"/>
      <object type="PCIDev" gp_index="302" subtype="NVSwitch" pci_busid="0000:32:00.0" pci_type="0680 [10de:1ac2] [0000:0000] a1" pci_link_speed="1.0"/>
     </object>)";
  const auto links = links_of_xml(
      with_matrix("<distances2hetero nbobjs=\"4\" kind=\"25\" name=\"NVLinkBandwidth\">" +
                      matrix_part("indexes", "OSDev:102 OSDev:202 PCIDev:301 PCIDev:302 ") +
                      matrix_part("u64values", "0 0 50000 50000 0 0 50000 50000 50000 50000 0 0 50000 50000 0 0 ") +
                      "</distances2hetero>",
                  switches));
  ASSERT_EQ(links.size(), 1U);
  EXPECT_DOUBLE_EQ(links[0].cost.inverse_bandwidth, 0.01) << "100 GB/s";
}

TEST(Hwloc, BadFilesAreErrors) {
  const std::string text = of_version("2.0");
  EXPECT_THAT(problem_of(read_hwloc_xml, "<topology></topology>"), HasSubstr("hwloc cannot read this XML"));
  EXPECT_THAT(problem_of(read_hwloc_xml, text.substr(0, text.size() / 2)), HasSubstr("hwloc cannot read this XML"));
  std::string deep = text.substr(0, text.find("<object"));
  for (int i = 0; i < 100'000; ++i) deep += "<object type=\"Group\" cpuset=\"0x1\">";
  EXPECT_THAT(problem_of(read_hwloc_xml, deep), HasSubstr("hwloc cannot read this XML"));
}

TEST(Hwloc, AFileThatCrashesLibhwlocIsAnError) {
  std::string text = of_version("2.0");
  const std::string attribute = "complete_cpuset=\"0xff\" ";
  text.erase(text.find(attribute), attribute.size());
  // hwloc 2.9 crashes; a later version may accept or refuse the file.
  const auto machine = read_hwloc_xml(FileContents("machine.xml", text));
  EXPECT_TRUE(machine || machine.error().code == Code::bad_input);
}

TEST(Hwloc, DiscoversThisHost) {
  const auto machine = discover_host({});
  ASSERT_TRUE(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(topology.node_count(), 1U);
  EXPECT_GE(topology.core_count(), 1U);
  const auto bound = discover_host({.bound = true});
  ASSERT_TRUE(bound);
  EXPECT_LE(topology_of(*bound).core_count(), topology.core_count());
}

#endif

}  // namespace
}  // namespace rankloom
