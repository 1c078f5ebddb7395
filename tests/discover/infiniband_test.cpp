// SPDX-License-Identifier: Apache-2.0
#include "rankloom/discover/infiniband.hpp"

#include <gmock/gmock.h>

#include "discover_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

/// Output of ibnetdiscover for hosts below leaf switches, each with `cables` cables to every spine switch.
std::string fabric(int leaves, int hosts_a_leaf, int spines, int cables) {
  std::string text = "#\n# Topology file: generated on Mon Jan  1 00:00:00 2024\n#\n";
  const auto id = [](char kind, int number) {
    return "\"" + std::string(1, kind) + "-" + std::to_string(1000 + number) + "\"";
  };
  const auto port = [](int number) { return "[" + std::to_string(number) + "]"; };
  for (int spine = 0; spine < spines; ++spine) {
    text += "\nvendid=0x2c9\ndevid=0xcb20\nswitchguid=0x1(1)\nSwitch\t36 " + id('S', 100 + spine) +
            "\t\t# \"spine\" enhanced port 0 lid 1 lmc 0\n";
    for (int leaf = 0; leaf < leaves; ++leaf) {
      for (int cable = 0; cable < cables; ++cable)
        text +=
            port(leaf * cables + cable + 1) + "\t" + id('S', leaf) + port(20 + cable) + "\t\t# \"leaf\" lid 3 4xEDR\n";
    }
  }
  for (int leaf = 0; leaf < leaves; ++leaf) {
    text += "\nvendid=0x2c9\nSwitch\t36 " + id('S', leaf) + "\t\t# \"leaf\" enhanced port 0 lid 1 lmc 0\n";
    for (int host = 0; host < hosts_a_leaf; ++host) {
      const int number = leaf * hosts_a_leaf + host;
      text += port(host + 1) + "\t" + id('H', number) + "[1](aa) \t\t# \"n" + std::to_string(number) +
              " HCA-1\" lid 4 4xEDR\n";
    }
    for (int spine = 0; spine < spines; ++spine) {
      for (int cable = 0; cable < cables; ++cable)
        text += port(20 + cable) + "\t" + id('S', 100 + spine) + port(leaf * cables + cable + 1) +
                "\t\t# \"spine\" lid 3 4xEDR\n";
    }
  }
  for (int number = 0; number < leaves * hosts_a_leaf; ++number) {
    text += "\ncaguid=0x1\nCa\t1 " + id('H', number) + "\t\t# \"n" + std::to_string(number) + " HCA-1\"\n[1](aa) \t" +
            id('S', number / hosts_a_leaf) + port(number % hosts_a_leaf + 1) +
            "\t\t# lid 4 lmc 0 \"leaf\" lid 3 4xEDR\n";
  }
  return text;
}

TEST(InfiniBand, ATreeBecomesLevels) {
  const Topology topology = topology_of(machine_of(read_infiniband, fabric(3, 4, 1, 2)));
  EXPECT_EQ(shape_of(topology), "switch 3, node 12, core 12");
  EXPECT_FALSE(topology.routed());
  EXPECT_EQ(topology.node_name(Node{5}), "n5");
}

TEST(InfiniBand, AFatTreeBecomesAGraph) {
  const Topology topology = topology_of(machine_of(read_infiniband, fabric(3, 4, 2, 2)));
  EXPECT_TRUE(topology.routed());
  EXPECT_EQ(topology.node_count(), 12U);
  EXPECT_EQ(topology.hops(Core{0}, Core{3}), 2U);
  EXPECT_EQ(topology.hops(Core{0}, Core{4}), 4U);
  // Two links of 100 Gbit/s, then two of twice that.
  EXPECT_NEAR(topology.cost(Core{0}, Core{3}).inverse_bandwidth, 2 * 0.08, 1e-9);
  EXPECT_NEAR(topology.cost(Core{0}, Core{4}).inverse_bandwidth, 2 * 0.08 + 2 * 0.04, 1e-9);
}

TEST(InfiniBand, OneSwitchIsTheMachineItself) {
  EXPECT_EQ(shape_of(topology_of(machine_of(read_infiniband, fabric(1, 4, 0, 0)))), "node 4, core 4");
}

TEST(InfiniBand, AdaptersOfOneHostAreOneNode) {
  const Topology topology = topology_of(machine_of(
      read_infiniband,
      "Switch\t36 \"S-1\"\t\t# \"sw\"\n[1]\t\"H-1\"[1]\t# \"a mlx5_0\" lid 1 4xHDR\n[2]\t\"H-2\"[1]\t# \"a mlx5_1\" "
      "lid 2 "
      "4xHDR\n[3]\t\"H-3\"[1]\t# \"b mlx5_0\" lid 3 4xHDR\n[4]\t\"H-9\"[1]\t# \"Mellanox Technologies Aggregation "
      "Node\" "
      "lid 9 4xHDR\n\nCa 1 \"H-1\" # \"a mlx5_0\"\n[1] \"S-1\"[1] # lid 1 4xHDR\nCa 1 \"H-2\" # \"a mlx5_1\"\n[1] "
      "\"S-1\"[2] # lid 2 4xHDR\nCa 1 \"H-3\" # \"b mlx5_0\"\n[1] \"S-1\"[3] # 4xHDR\nCa 1 \"H-9\" # \"Mellanox "
      "Technologies Aggregation Node\"\n[1] \"S-1\"[4] # 4xHDR\n"));
  EXPECT_EQ(nodes_of(topology), "a b");
}

TEST(InfiniBand, ADisconnectedFabricIsAnError) {
  EXPECT_THAT(problem_of(read_infiniband, fabric(2, 2, 0, 0)), HasSubstr("no path connects n0 and n2"));
}

TEST(InfiniBand, ErrorsNameTheLine) {
  EXPECT_THAT(problem_of(read_infiniband, "vendid=0x1\nhello\n"), HasSubstr("file:2: \"hello\""));
  EXPECT_THAT(problem_of(read_infiniband, "vendid=0x1\n[1] \"S-1\"[1]\n"), HasSubstr("file:2: "));
  EXPECT_THAT(problem_of(read_infiniband, "vendid=0x1\n"), HasSubstr("the fabric has no host"));
  EXPECT_THAT(problem_of(read_infiniband, "Ca 1 \"H-1\" # \"a\"\nCa 1 \"H-1\" # \"a\"\n"),
              HasSubstr("already in line 1"));
}

TEST(InfiniBand, ATruncatedFileIsAnErrorOrHasFewerHosts) {
  const std::string text = fabric(2, 2, 2, 1);
  const Truncations seen = truncations_of(read_infiniband, text);
  EXPECT_GT(seen.errors, 0U);
  EXPECT_GT(seen.machines, 0U);
  EXPECT_EQ(seen.max_nodes, 4U);
}

TEST(InfiniBand, IsRecognised) {
  EXPECT_TRUE(is_infiniband(fabric(2, 2, 1, 1)));
  EXPECT_FALSE(is_infiniband("SwitchName=s0 Nodes=n0\n"));
}

}  // namespace
}  // namespace rankloom
