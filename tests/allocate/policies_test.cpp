// SPDX-License-Identifier: Apache-2.0
// tests: every policy on every network while jobs start and end; the searches against exhaustive search.
#include <deque>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/templates.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::networks_of_every_kind;
using testing::random_nodes;

struct Running {
  RunningJob job;
  Allocation allocation;
};

class EveryPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, GivesFreeNodesAndIsolatedJobsNeverConflict) {
  for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
    const Allocator allocator(allocation_machine(GetParam(), exclusive));
    const AllocationMachine& machine = allocator.machine();
    for (const PolicyInfo& policy : policies()) {
      SCOPED_TRACE(fmt::format("{} {} {}", GetParam(), name_of(exclusive), policy.name));
      Occupancy occupancy(machine);
      ConflictVerifier verifier(machine.network(), exclusive);
      std::deque<Running> running;
      Random random(11);
      int placed = 0;
      for (int step = 0; step < 120; ++step) {
        if (!running.empty() && random.below(3) == 0) {
          const auto at = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
          occupancy.remove(at->allocation);
          verifier.end(at->job.name);
          running.erase(at);
        }
        const auto nodes =
            1 + static_cast<std::uint32_t>(random.below(1 + machine.node_count() / (1 + random.below(6))));
        const auto found = allocate_nodes(allocator, occupancy, policy, nodes, {});
        if (!found) continue;
        ++placed;
        ASSERT_EQ(found->nodes.size(), nodes);
        ASSERT_TRUE(std::is_sorted(found->nodes.begin(), found->nodes.end()));
        ASSERT_EQ(std::set<Node>(found->nodes.begin(), found->nodes.end()).size(), nodes);
        ASSERT_TRUE(occupancy.fits(*found));
        ASSERT_GE(found->diameter, diameter_of(machine.network(), found->nodes));
        Bitset footprint(machine.route_footprint().resource_count());
        walk_routes(machine.network(), exclusive, found->nodes, footprint);
        ASSERT_EQ(footprint, found->shared_resources);
        Running job{{std::to_string(step), found->nodes}, *found};
        const auto conflicts = verifier.start(job.job);
        ASSERT_EQ(conflicts.empty(), found->isolated);
        if (policy.isolated) {
          ASSERT_TRUE(conflicts.empty()) << to_string(conflicts[0], machine.network());
        }
        occupancy.add(*found);
        running.push_back(std::move(job));
      }
      EXPECT_GT(placed, 5);
    }
  }
}

std::string test_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryPolicy, ::testing::ValuesIn(networks_of_every_kind()), test_name);

/// Random jobs of one node and of two neighbouring nodes.
Occupancy random_occupancy(const AllocationMachine& machine, Random& random, std::uint64_t jobs) {
  Occupancy occupancy(machine);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const auto first = static_cast<std::uint32_t>(random.below(machine.node_count() - 1));
    std::vector<Node> nodes{Node{first}};
    if (random.below(3) > 0) nodes.push_back(Node{first + 1});
    const Allocation allocation = make_allocation(machine, occupancy, nodes);
    if (occupancy.fits(allocation) && allocation.isolated) occupancy.add(allocation);
  }
  return occupancy;
}

/// The smallest diameter of all boxes with enough free nodes and no used router, by exhaustive search.
std::optional<std::uint32_t> smallest_box(const Occupancy& occupancy, std::uint32_t width, std::uint32_t height,
                                          std::uint32_t nodes) {
  std::optional<std::uint32_t> smallest;
  for (std::uint32_t columns = 1; columns <= width; ++columns) {
    for (std::uint32_t rows = 1; rows <= height; ++rows) {
      for (std::uint32_t x = 0; x + columns <= width; ++x) {
        for (std::uint32_t y = 0; y + rows <= height; ++y) {
          std::uint32_t free = 0;
          bool clear = true;
          for (std::uint32_t j = y; j < y + rows; ++j) {
            for (std::uint32_t i = x; i < x + columns; ++i) {
              clear = clear && !occupancy.used_resources().test(j * width + i);
              free += occupancy.free_nodes().test(j * width + i) ? 1 : 0;
            }
          }
          if (clear && free >= nodes) smallest = std::min(smallest.value_or(UINT32_MAX), columns + rows - 2);
        }
      }
    }
  }
  return smallest;
}

TEST(ClosedBest, FindsTheSmallestDiameterOfAllBoxes) {
  const Allocator allocator(allocation_machine("mesh:6x7 core:1", Exclusive::routers));
  Random random(3);
  int found_some = 0, found_none = 0;
  for (int i = 0; i < 400; ++i) {
    const Occupancy occupancy = random_occupancy(allocator.machine(), random, random.below(12));
    const auto nodes = 2 + static_cast<std::uint32_t>(random.below(20));
    const auto found =
        allocator.search().find_isolated(occupancy, nodes, Objective::min_diameter, {.waste = 100, .slack = 0});
    const auto smallest = smallest_box(occupancy, 7, 6, nodes);
    if (found) {
      ++found_some;
      ASSERT_TRUE(smallest);
      EXPECT_EQ(found->diameter, *smallest) << nodes << " nodes";
    } else {
      ++found_none;
      EXPECT_FALSE(smallest) << nodes << " nodes";
    }
  }
  EXPECT_GT(found_some, 50);
  EXPECT_GT(found_none, 20);
}

TEST(ClosedBest, HasTheDiameterOfTheTemplateOnAnEmptyMesh) {
  const Allocator allocator(allocation_machine("mesh:16x16 core:1", Exclusive::routers));
  const Occupancy empty(allocator.machine());
  for (std::uint32_t n = 1; n <= 256; ++n) {
    const auto best = allocator.search().find_isolated(empty, n, Objective::min_diameter, {.slack = 0});
    ASSERT_TRUE(best) << n;
    EXPECT_EQ(best->diameter, mesh_min_diameter(n)) << n;
    const auto minimum = allocator.search().find_template(empty, n);
    ASSERT_TRUE(minimum);
    EXPECT_EQ(minimum->diameter, mesh_min_diameter(n));
    const auto [columns, rows] = mesh_template(n);
    EXPECT_EQ(minimum->nodes.size() + minimum->reserved.size(), columns * rows);
  }
}

TEST(ClosedBest, HasTheDiameterOfTheTemplateOnAnEmptyTree) {
  const Allocator allocator(allocation_machine("tree:4,4,4 core:1", Exclusive::routers));
  const Occupancy empty(allocator.machine());
  for (std::uint32_t n = 1; n <= 64; ++n) {
    EXPECT_EQ(allocator.search().find_isolated(empty, n, Objective::min_diameter, {})->diameter,
              tree_min_diameter(4, n));
    const auto minimum = allocator.search().find_template(empty, n);
    EXPECT_EQ(minimum->diameter, tree_min_diameter(4, n));
    EXPECT_EQ(minimum->nodes.size() + minimum->reserved.size(), 1U << (2 * (tree_template_levels(4, n) - 1)));
  }
}

TEST_P(EveryPolicy, FindsNodesForEverySizeOnAnEmptyMachine) {
  const Allocator allocator(allocation_machine(GetParam(), Exclusive::links));
  for (const PolicyInfo& policy : policies()) {
    for (std::uint32_t nodes = 1; nodes <= allocator.machine().node_count(); ++nodes) {
      const Occupancy empty(allocator.machine());
      EXPECT_TRUE(allocate_nodes(allocator, empty, policy, nodes, {})) << policy.name << " " << nodes;
    }
  }
}

TEST(ClosedBest, EnclosesASingleNodeJobInABox) {
  const Allocator allocator(allocation_machine("mesh:3x3 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  occupancy.add(make_allocation(allocator.machine(), occupancy, {Node{4}}));
  const auto found = allocator.search().find_isolated(occupancy, 8, Objective::min_diameter, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isolated);
}

TEST(ClosedBest, GivesASingleNodeJobAnUnusedNodeOfABox) {
  const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  const auto first = allocator.search().find_isolated(occupancy, 8, Objective::min_diameter, {});
  ASSERT_TRUE(first);
  Allocation seven = make_allocation(allocator.machine(), occupancy, {first->nodes.begin(), first->nodes.end() - 1});
  occupancy.add(seven);
  const auto single = allocator.search().find_isolated(occupancy, 1, Objective::min_diameter, {});
  ASSERT_TRUE(single);
  EXPECT_EQ(single->nodes[0], first->nodes.back());
}

TEST(MinDiameter, IsTheSmallestOfAllSetsInA2DMesh) {
  const Allocator allocator(allocation_machine("mesh:3x4 core:1", Exclusive::routers));
  Random random(9);
  for (int i = 0; i < 40; ++i) {
    const Occupancy occupancy = random_occupancy(allocator.machine(), random, random.below(5));
    const auto nodes = 2 + static_cast<std::uint32_t>(random.below(4));
    if (occupancy.free_count() < nodes) continue;
    std::uint32_t smallest = UINT32_MAX;
    for (std::uint32_t set = 0; set < 1U << 12; ++set) {
      std::vector<Node> chosen;
      for (std::uint32_t node = 0; node < 12; ++node) {
        if (((set >> node) & 1) != 0 && occupancy.free_nodes().test(node)) chosen.push_back(Node{node});
      }
      if (chosen.size() == nodes) smallest = std::min(smallest, diameter_of(allocator.machine().network(), chosen));
    }
    EXPECT_EQ(allocator.search().find_nearest(occupancy, nodes).diameter, smallest);
  }
}

TEST(Fallback, FollowsTheChoiceOfTheUser) {
  const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  // Rows 1 and 3 are in use: the largest remaining box is a row of four.
  for (const std::uint32_t row : {1U, 3U}) {
    std::vector<Node> nodes;
    for (std::uint32_t x = 0; x < 4; ++x) nodes.push_back(Node{row * 4 + x});
    occupancy.add(make_allocation(allocator.machine(), occupancy, nodes));
  }
  const PolicyInfo& minimum = **find_policy("closed-minimum");
  EXPECT_FALSE(allocate_nodes(allocator, occupancy, minimum, 4, {}));
  const auto near = allocate_nodes(allocator, occupancy, minimum, 6, {.fallback = Fallback::diameter});
  ASSERT_TRUE(near);
  EXPECT_FALSE(near->isolated);
  const auto wide = allocate_nodes(allocator, occupancy, minimum, 4, {.fallback = Fallback::isolated});
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->isolated);
  EXPECT_EQ(wide->diameter, 3);
  EXPECT_FALSE(allocate_nodes(allocator, occupancy, minimum, 6, {.fallback = Fallback::isolated}));
}

TEST(FatTree, SharesSwitchesButNoLinks) {
  // Two jobs of eight nodes, each across two leaves of four, in one pod of a tree with full bisection.
  const Allocator allocator(allocation_machine("fattree:4,4,4/4,4,1 core:1", Exclusive::links));
  Occupancy occupancy(allocator.machine());
  std::vector<RunningJob> jobs;
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const auto found = allocate_nodes(allocator, occupancy, **find_policy("closed-best"), 8, {});
    ASSERT_TRUE(found) << name;
    occupancy.add(*found);
    jobs.push_back({name, found->nodes});
  }
  EXPECT_TRUE(verify(allocator.machine().network(), Exclusive::links, jobs).empty());
  EXPECT_EQ(occupancy.free_count(), 0);
}

TEST(FindPolicy, SuggestsTheMostSimilarName) {
  const auto unknown = find_policy("closed-bets");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("closed-best"), std::string::npos);
}

}  // namespace
}  // namespace rankloom
