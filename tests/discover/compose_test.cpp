// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/compose.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "discover_support.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/discover/hwloc/host_report.hpp"
#include "rankloom/discover/slurm/slurm_topology.hpp"
#include "rankloom/model/files/topology_json.hpp"
#include "rankloom/model/machine/network/network_shapes.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

MachineSpec cluster() {
  return machine_of(read_slurm_topology,
                    "SwitchName=a Nodes=n[0-3]\nSwitchName=b Nodes=n[4-7]\nSwitchName=t Switches=a,b\n");
}

NodeInterior inside(const char* text, std::vector<std::string> hosts = {}) {
  return {.hosts = std::move(hosts), .machine = *parse_topology_string(text)};
}

std::string problem(const Result<MachineSpec>& machine) {
  return machine ? "none" : to_string(machine.error());
}

TEST(Compose, EveryNodeGetsTheInterior) {
  const auto machine = compose(cluster(), std::vector{inside("package:2=0.3 core:8=0.1")}, {});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(shape_of(topology), "switch 2, node 8, package 16, core 128");
  EXPECT_EQ(topology.node_name(Node{5}), "n5");
}

TEST(Compose, TheInteriorContainsDevicesAndLinks) {
  const auto machine = compose(cluster(), std::vector{inside("node:1 gpu-link=0.01 numa:2=0.3 gpu:2 core:8=0.1")}, {});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(topology.devices().size(), 32U);
  ASSERT_EQ(topology.gpu_links().size(), 8U);
  EXPECT_EQ(topology.gpu_links()[7].gpus, (std::vector<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Compose, NodesMayDiffer) {
  const auto machine =
      compose(cluster(), std::vector{inside("core:8"), inside("package:2 core:32", {"n1", "n5.cluster.example"})}, {});
  ASSERT_TRUE(machine) << problem(machine);
  EXPECT_EQ(topology_of(*machine).core_count(), 6U * 8 + 2U * 64);
}

TEST(Compose, KeepsOnlyTheNamedHosts) {
  const auto machine = compose(cluster(), std::vector{inside("core:4")}, {"n5", "n1", "n2"});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(nodes_of(topology), "n1 n2 n5");
  EXPECT_EQ(shape_of(topology), "switch 2, node 3, core 12");
}

TEST(Compose, RemovesHostsFromAGraphWithTheirCables) {
  GraphShape shape{.nodes = 3, .vertices = 5, .cables = {}, .nodes_forward = false, .next = {}};
  for (const auto& [a, b] : {std::pair{0, 3}, {1, 3}, {2, 4}, {3, 4}})
    shape.cables.push_back({Vertex(a), Vertex(b), {1, 0}});
  MachineSpec network = flat_network({"x", "y", "z"});
  network.network = *make_graph(std::move(shape));
  const auto machine = compose(network, std::vector{inside("core:4=0.1")}, {"x", "z"});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_EQ(nodes_of(topology), "x z");
  EXPECT_EQ(topology.hops(Core{0}, Core{4}), 3U);
}

TEST(Compose, ANetworkIsNeverCheaperThanANode) {
  const auto machine = compose(cluster(), std::vector{inside("package:2=50 core:8=20")}, {});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  const double inside_node = topology.cost(Core{0}, Core{8}).inverse_bandwidth;
  EXPECT_NEAR(topology.cost(Core{0}, Core{16}).inverse_bandwidth, 3.7 * inside_node, 1e-9);
  EXPECT_GT(topology.cost(Core{0}, Core{127}).inverse_bandwidth, topology.cost(Core{0}, Core{16}).inverse_bandwidth);
}

/// A host with network cards of this rate.
NodeInterior with_cards(const char* text, double cards, double rate, std::vector<std::string> hosts = {}) {
  NodeInterior interior = inside(text, std::move(hosts));
  interior.machine.channels.set_width("node", cards, Origin::discovered);
  interior.machine.channels.card_rate = rate;
  return interior;
}

TEST(Compose, CardsGiveTheCostBetweenNodesUnlessItIsKnown) {
  const auto cost_of = [](const MachineSpec& machine, std::size_t level) {
    return topology_of(machine).levels()[level].cost->inverse_bandwidth;
  };
  const auto machine = compose(cluster(), std::vector{with_cards("core:8=0.1", 2, 1.25e9)}, {});
  ASSERT_TRUE(machine) << problem(machine);
  EXPECT_DOUBLE_EQ(cost_of(*machine, 1), 0.8);
  EXPECT_DOUBLE_EQ(cost_of(*machine, 0), 0.8 * 1.25) << "the ratio of the levels stays";
  EXPECT_EQ(machine->channels.cost_origin("node"), Origin::discovered);
  EXPECT_EQ(machine->channels.cost_origin("switch"), Origin::assumed);
  EXPECT_EQ(machine->channels.widths, (std::vector<ChannelSpec::Width>{{"node", 2, Origin::discovered}}));
  MachineSpec measured = cluster();
  measured.channels.set_cost_origin("node", Origin::measured);
  const auto kept = compose(measured, std::vector{with_cards("core:8=0.1", 2, 1.25e9)}, {});
  ASSERT_TRUE(kept) << problem(kept);
  EXPECT_DOUBLE_EQ(cost_of(*kept, 1), 1);
  EXPECT_EQ(kept->channels.cost_origin("node"), Origin::measured);
  EXPECT_EQ(kept->channels.width("node"), 2);
}

TEST(Compose, ACardThatIsFasterThanACopyCarriesSeveralMessages) {
  const auto machine = compose(cluster(), std::vector{with_cards("core:8=0.2", 2, 25e9)}, {});
  ASSERT_TRUE(machine) << problem(machine);
  const Topology topology = topology_of(*machine);
  EXPECT_DOUBLE_EQ(topology.levels()[1].cost->inverse_bandwidth, 0.22);
  EXPECT_EQ(machine->channels.cost_origin("node"), Origin::assumed);
  EXPECT_EQ(machine->channels.width("node"), 11) << "2 cards x 25 GB/s x 0.22 ns/B";
}

TEST(Compose, TheNarrowestNodeCounts) {
  auto wide = with_cards("core:8=0.1", 4, 2e9), narrow = with_cards("core:8=0.1", 1, 1e9, {"n3"});
  wide.machine.channels.set_width("bus", 8, Origin::discovered);
  narrow.machine.channels.set_width("bus", 12, Origin::assumed);
  const auto machine = compose(cluster(), std::vector{wide, narrow}, {});
  ASSERT_TRUE(machine) << problem(machine);
  EXPECT_EQ(machine->channels.widths,
            (std::vector<ChannelSpec::Width>{{"bus", 8, Origin::assumed}, {"node", 1, Origin::discovered}}));
  EXPECT_EQ(machine->channels.card_rate, 1e9);
  MachineSpec stated = cluster();
  stated.channels.set_width("node", 3);
  const auto kept = compose(stated, std::vector{wide, narrow}, {});
  ASSERT_TRUE(kept) << problem(kept);
  EXPECT_EQ(kept->channels.width("node"), 3);
}

TEST(Compose, OriginsOfCostsInsideAreThoseOfTheInterior) {
  MachineSpec network = flat_network({"a", "b"});
  network.channels.set_cost_origin("core", Origin::measured);
  const auto stated = compose(network, std::vector{inside("core:8=0.1")}, {});
  ASSERT_TRUE(stated) << problem(stated);
  EXPECT_EQ(stated->channels.cost_origin("core"), Origin::stated);
  EXPECT_EQ(stated->channels.cost_origin("node"), Origin::assumed);
}

TEST(Compose, ErrorsNameTheHost) {
  EXPECT_THAT(problem(compose(cluster(), std::vector{inside("core:4")}, {"n9"})),
              HasSubstr("has no node with the name n9"));
  EXPECT_THAT(problem(compose(cluster(), std::vector{inside("core:4", {"m1"})}, {})),
              HasSubstr("has no node with the name m1"));
  EXPECT_THAT(problem(compose(cluster(), std::vector{inside("node:2 core:4")}, {})), HasSubstr("describes 2 nodes"));
  EXPECT_THAT(problem(compose(cluster(), std::vector{inside("core:4", {"n1"})}, {})),
              HasSubstr("no file describes the inside of"));
}

TEST(HostReport, SurvivesLabelsInterleavingAndRepetition) {
  const std::string machine = write_machine_json(*parse_topology_string("package:2 core:16 !core:5,9,17"));
  const std::string long_machine = machine + std::string(5000, ' ');
  const std::string first = write_host_report({.host = "beta", .rank = 4, .machine = long_machine});
  const std::string second = write_host_report({.host = "alpha", .rank = 0, .machine = machine});
  const std::string again = write_host_report({.host = "beta", .rank = 5, .machine = "other"});
  ASSERT_EQ(first.size() % 512, 0U);
  ASSERT_GT(first.size(), 2U * 512);
  HostReportCollector collector;
  EXPECT_FALSE(collector.add("a word of the launcher"));
  for (std::size_t at = first.size(); at > 0; at -= 512)
    EXPECT_TRUE(collector.add("[1,0]<stdout>:" + first.substr(at - 512, 511)));
  for (std::size_t at = 0; at < second.size(); at += 512) collector.add(second.substr(at, 511));
  for (std::size_t at = 0; at < again.size(); at += 512) collector.add(again.substr(at, 511));
  const auto reports = collector.reports();
  ASSERT_TRUE(reports);
  ASSERT_EQ(reports->size(), 2U);
  EXPECT_EQ((*reports)[0].host, "alpha");
  EXPECT_EQ((*reports)[1].machine, long_machine);
}

/// Blocks of any size of two processes in turn, as mpirun of Open MPI forwards them on a busy host.
std::string interleaved(std::string_view first, std::string_view second, std::size_t block, std::size_t other_block) {
  std::string text;
  while (!first.empty() || !second.empty()) {
    text += first.substr(0, block);
    first.remove_prefix(std::min(block, first.size()));
    text += second.substr(0, other_block);
    second.remove_prefix(std::min(other_block, second.size()));
  }
  return text;
}

void add_lines(HostReportCollector& collector, std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    collector.add(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

TEST(HostReport, LinesThatInterruptEachOtherAreMissingUntilTheyAreSentAgain) {
  const std::string first = write_host_report({.host = "beta", .rank = 1, .machine = std::string(2000, 'x')});
  const std::string second = write_host_report({.host = "alpha", .rank = 0, .machine = std::string(2000, 'y')});
  std::size_t incomplete = 0;
  for (const std::size_t block : {1UL, 7UL, 100UL, 460UL, 700UL, 1000UL, 1500UL, 2048UL, 3000UL}) {
    for (const std::size_t other_block : {100UL, 512UL, 700UL, 1000UL, 4096UL}) {
      HostReportCollector collector;
      add_lines(collector, interleaved(first, second, block, other_block));
      incomplete += collector.is_incomplete() ? 1 : 0;
      collector.start();
      add_lines(collector, first);
      add_lines(collector, second);
      EXPECT_FALSE(collector.is_incomplete());
      const auto reports = collector.reports();
      ASSERT_TRUE(reports) << block << " " << other_block;
      ASSERT_EQ(reports->size(), 2U);
      EXPECT_EQ((*reports)[0].machine, std::string(2000, 'y'));
      EXPECT_EQ((*reports)[1].machine, std::string(2000, 'x'));
    }
  }
  EXPECT_GT(incomplete, 5U);
}

TEST(HostReport, ForgedLinesNeedNoMemory) {
  HostReportCollector collector;
  for (int host = 0; host < 20'000; ++host)
    EXPECT_TRUE(collector.add(fmt::format("@rankloom-host {} 0 1000000 eA", host)));
  const auto reports = collector.reports();
  ASSERT_FALSE(reports);
  EXPECT_THAT(reports.error().what, HasSubstr("no host sent a report"));
}

TEST(HostReport, MissingPartsAreAnError) {
  const std::string lines = write_host_report({.host = "beta", .rank = 0, .machine = std::string(3000, 'x')});
  HostReportCollector collector;
  EXPECT_FALSE(collector.reports());
  collector.add(lines.substr(0, 511));
  const auto reports = collector.reports();
  ASSERT_FALSE(reports);
  EXPECT_THAT(reports.error().what, HasSubstr("1 of"));
}

}  // namespace
}  // namespace rankloom
