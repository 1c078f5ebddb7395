// SPDX-License-Identifier: Apache-2.0
// The network as a picture: every link has a cable, tori are planes, switches are in rows, groups on a circle.
#include "rankloom/report/layout/network_layout.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

NetworkLayout layout_of(const std::string& text) {
  const Topology topology = testing::topology(text);
  auto layout = lay_out_network(topology);
  EXPECT_TRUE(layout) << text;
  return layout ? *std::move(layout) : NetworkLayout();
}

std::vector<std::string> labels_of_kinds(const NetworkLayout& layout) {
  std::vector<std::string> labels;
  for (const auto& kind : layout.kinds) labels.push_back(kind.label);
  return labels;
}

TEST(NetworkLayout, EveryLinkHasTheCableOfItsEndsInTheRightDirection) {
  for (const char* text : {"torus:4x3x5 core:1", "mesh:7 core:1", "torus:3x2x4x5 core:1", "fattree:4,3,2/2,2,1 core:1",
                           "fattree:k=4 core:1", "dragonfly:5,4,2 core:1", "switch:3 node:2 core:1"}) {
    const Topology topology = testing::topology(text);
    const NetworkLayout layout = layout_of(text);
    ASSERT_EQ(layout.cable_of.size(), topology.network().link_count()) << text;
    for (std::uint32_t link = 0; link < topology.network().link_count(); ++link) {
      const auto [from, to] = topology.network().endpoints(Link{link});
      const auto& cable = layout.cables[layout.cable_of[link]];
      const auto ends = layout.forward[link] ? std::pair(cable.a, cable.b) : std::pair(cable.b, cable.a);
      EXPECT_EQ(ends, std::pair(index(from), index(to))) << text << " link " << link;
      EXPECT_LT(cable.kind, layout.kinds.size()) << text;
    }
  }
}

TEST(NetworkLayout, VerticesAreInsideThePictureAndDoNotOverlap) {
  for (const char* text :
       {"torus:4x4x4 core:1", "torus:9 core:1", "fattree:k=4 core:1", "fattree:2,3,17 core:1", "dragonfly:9,4,2 core:1",
        "dragonfly:3,2,9 core:1", "switch:3 node:5 core:1", "rack:2 switch:3 node:2 core:1"}) {
    const NetworkLayout layout = layout_of(text);
    for (std::size_t v = 0; v < layout.x.size(); ++v) {
      EXPECT_TRUE(layout.x[v] >= 0.5 && layout.x[v] <= layout.width - 0.5) << text << " vertex " << v;
      EXPECT_TRUE(layout.y[v] >= 0.4 && layout.y[v] <= layout.height - 0.4) << text << " vertex " << v;
      for (std::size_t other = v + 1; other < layout.x.size(); ++other) {
        const double apart = std::max(std::abs(layout.x[v] - layout.x[other]), std::abs(layout.y[v] - layout.y[other]));
        EXPECT_GE(apart, 0.85) << text << " vertices " << v << " and " << other;
      }
    }
  }
}

TEST(NetworkLayout, ATorusIsOneFramedPlanePerCoordinateOfItsOuterDimensions) {
  const NetworkLayout layout = layout_of("torus:3x4x5 core:1");
  ASSERT_EQ(layout.frames.size(), 3U);
  EXPECT_EQ(layout.frames[2].label, "x = 2");
  EXPECT_EQ(labels_of_kinds(layout), (std::vector<std::string>{"along z", "along y", "along x"}));
  // Neighbours in the last coordinate are neighbours in the picture; the link around leads from the last to the first.
  EXPECT_DOUBLE_EQ(layout.x[1] - layout.x[0], 2);
  EXPECT_DOUBLE_EQ(layout.y[5] - layout.y[0], 2);
  const auto around = std::find_if(layout.cables.begin(), layout.cables.end(),
                                   [](const auto& cable) { return cable.a == 4 && cable.b == 0; });
  ASSERT_NE(around, layout.cables.end());
  EXPECT_EQ(around->kind, 0U);
  EXPECT_EQ(layout_of("torus:2x3x4x5 core:1").frames[1].label, "dimension 1 = 0, dimension 2 = 1");
}

TEST(NetworkLayout, AFatTreeHasARowPerLevelAndAFramePerPod) {
  const NetworkLayout layout = layout_of("fattree:k=4 core:1");  // 16 nodes, 8 leaf, 8 middle and 4 top switches
  std::set<double> rows(layout.y.begin() + 16, layout.y.end());
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_LT(layout.y.back(), layout.y[16]) << "top switches are above leaf switches";
  ASSERT_EQ(layout.frames.size(), 5U);
  EXPECT_EQ(layout.frames[3].label, "pod 3");
  EXPECT_EQ(labels_of_kinds(layout),
            (std::vector<std::string>{"between nodes and leaf switches", "between leaf switches and middle switches",
                                      "between middle switches and top switches"}));
  EXPECT_EQ(layout.kinds[0].stroke, NetworkLayout::Stroke::node);
}

TEST(NetworkLayout, ADragonflyTellsLinksWithinGroupsFromThoseBetween) {
  const NetworkLayout layout = layout_of("dragonfly:5,4,2 core:1");
  ASSERT_EQ(layout.frames.size(), 5U);
  std::vector<int> of_kind(3, 0);
  for (const auto& cable : layout.cables) ++of_kind[cable.kind];
  EXPECT_EQ(of_kind, (std::vector<int>{40, 5 * 6, 10}));
}

TEST(NetworkLayout, NothingIsDrawnForOneSwitchOrForTooManyLinks) {
  EXPECT_FALSE(lay_out_network(testing::topology("node:4 core:2")));
  EXPECT_FALSE(lay_out_network(testing::topology("core:4")));
  EXPECT_FALSE(lay_out_network(testing::topology("torus:8x8 core:1"), {.max_links = 100}));
  EXPECT_TRUE(lay_out_network(testing::topology("torus:8x8 core:1"), {.max_links = 256}));
}

}  // namespace
}  // namespace rankloom
