// SPDX-License-Identifier: Apache-2.0
// tests: the theorems of Zhang 2014 against exhaustive enumeration of routes or shapes on small machines.
#include "rankloom/allocate/search/templates.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;

std::vector<Node> rectangle(std::uint32_t width, std::uint32_t x, std::uint32_t y, std::uint32_t columns,
                            std::uint32_t rows) {
  std::vector<Node> nodes;
  for (std::uint32_t j = y; j < y + rows; ++j) {
    for (std::uint32_t i = x; i < x + columns; ++i) nodes.push_back(Node{j * width + i});
  }
  return nodes;
}

TEST(Theorem2, EveryRectangleOfAMeshIsClosed) {
  const std::uint32_t width = 6, height = 5;
  const auto machine = allocation_machine("mesh:5x6 core:1", Exclusive::routers);
  for (std::uint32_t columns = 1; columns <= width; ++columns) {
    for (std::uint32_t rows = 1; rows <= height; ++rows) {
      for (std::uint32_t x = 0; x + columns <= width; ++x) {
        for (std::uint32_t y = 0; y + rows <= height; ++y) {
          const auto nodes = rectangle(width, x, y, columns, rows);
          Bitset inside(machine.node_count()), footprint(machine.node_count());
          for (const Node node : nodes) inside.set(index(node));
          walk_routes(machine.network(), Exclusive::routers, nodes, footprint);
          EXPECT_TRUE(footprint.is_subset_of(inside)) << columns << "x" << rows << " at " << x << "," << y;
        }
      }
    }
  }
}

TEST(Theorem2, ANodeSetThatIsNotARectangleIsNotClosed) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  const std::vector<Node> corner_missing{Node{1}, Node{4}, Node{5}};
  Bitset inside(16), footprint(16);
  for (const Node node : corner_missing) inside.set(index(node));
  walk_routes(machine.network(), Exclusive::routers, corner_missing, footprint);
  EXPECT_FALSE(footprint.is_subset_of(inside));
}

TEST(Theorem3, GivesTheSmallestDiameterOfAllRectangles) {
  for (std::uint32_t n = 1; n <= 400; ++n) {
    std::uint32_t smallest = UINT32_MAX;
    for (std::uint32_t columns = 1; columns <= n; ++columns) {
      const std::uint32_t rows = (n + columns - 1) / columns;
      smallest = std::min(smallest, columns + rows - 2);
    }
    EXPECT_EQ(mesh_min_diameter(n), smallest) << n;
    const auto [columns, rows] = mesh_template(n);
    EXPECT_GE(columns * rows, n);
  }
}

TEST(Theorem4, EverySubtreeIsClosed) {
  const auto machine = allocation_machine("tree:3,3,3 core:1", Exclusive::routers);
  for (std::uint32_t size = 3; size <= 27; size *= 3) {
    Bitset all(machine.route_footprint().resource_count());
    for (std::uint32_t first = 0; first < 27; first += size) {
      std::vector<Node> nodes;
      for (std::uint32_t i = first; i < first + size; ++i) nodes.push_back(Node{i});
      Bitset footprint(machine.route_footprint().resource_count());
      walk_routes(machine.network(), Exclusive::routers, nodes, footprint);
      EXPECT_EQ(footprint.count(), size == 3 ? 1 : size == 9 ? 4 : 13);  // the switches of that subtree alone
      EXPECT_FALSE(footprint.intersects(all));
      all |= footprint;
    }
  }
}

TEST(Theorem5, GivesTheSmallestDiameterOfLeaves) {
  for (const std::uint32_t k : {2U, 3U, 4U}) {
    const auto machine = allocation_machine(fmt::format("tree:{0},{0},{0} core:1", k), Exclusive::routers);
    for (std::uint32_t n = 1; n <= machine.node_count(); ++n) {
      std::vector<Node> first_leaves;  // no other n leaves have a smaller diameter
      for (std::uint32_t i = 0; i < n; ++i) first_leaves.push_back(Node{i});
      EXPECT_EQ(tree_min_diameter(k, n), diameter_of(machine.network(), first_leaves)) << k << "-ary, " << n;
      EXPECT_EQ(tree_template_levels(k, n), tree_min_diameter(k, n) / 2 + 1);
    }
  }
}

TEST(Theorem5, NoSetOfLeavesHasASmallerDiameter) {
  const auto machine = allocation_machine("tree:2,2,2 core:1", Exclusive::routers);
  for (std::uint32_t set = 1; set < 256; ++set) {
    std::vector<Node> nodes;
    for (std::uint32_t i = 0; i < 8; ++i) {
      if (((set >> i) & 1) != 0) nodes.push_back(Node{i});
    }
    EXPECT_GE(diameter_of(machine.network(), nodes), tree_min_diameter(2, static_cast<std::uint32_t>(nodes.size())));
  }
}

TEST(Theorem1, ClosedAndDisjointJobsNeverConflict) {
  const auto machine = allocation_machine("mesh:4x4 core:1", Exclusive::routers);
  const std::vector<RunningJob> figure_1{{"1", rectangle(4, 0, 0, 2, 2)},
                                         {"2", rectangle(4, 2, 0, 2, 2)},
                                         {"3", rectangle(4, 0, 2, 2, 2)},
                                         {"4", rectangle(4, 2, 2, 2, 2)}};
  EXPECT_TRUE(verify(machine.network(), Exclusive::routers, figure_1).empty());
}

}  // namespace
}  // namespace rankloom
