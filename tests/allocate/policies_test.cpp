// SPDX-License-Identifier: Apache-2.0
// Every policy on every network, under jobs that come and go; and the searches against trying everything.
#include <deque>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankloom/allocate/policy.hpp"
#include "rankloom/allocate/search/isolated_search.hpp"
#include "rankloom/allocate/search/templates.hpp"
#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::networks_of_every_kind;
using testing::random_nodes;

struct Running {
  RunningJob job;
  Allotment allotment;
};

class EveryPolicy : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, GivesFreeNodesAndClosedOnesNeverMeet) {
  for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
    const Allocator allocator(allocation_machine(GetParam(), exclusive));
    const AllocationMachine& machine = allocator.machine();
    for (const PolicyInfo& policy : policies()) {
      SCOPED_TRACE(fmt::format("{} {} {}", GetParam(), name_of(exclusive), policy.name));
      Occupancy occupancy(machine);
      Verifier verifier(machine.network(), exclusive);
      std::deque<Running> running;
      Random random(11);
      int placed = 0;
      for (int step = 0; step < 120; ++step) {
        if (!running.empty() && random.below(3) == 0) {
          const auto at = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
          occupancy.remove(at->allotment);
          verifier.end(at->job.name);
          running.erase(at);
        }
        const auto nodes =
            1 + static_cast<std::uint32_t>(random.below(1 + machine.node_count() / (1 + random.below(6))));
        const auto found = place(allocator, occupancy, policy, nodes, {});
        if (!found) continue;
        ++placed;
        ASSERT_EQ(found->nodes.size(), nodes);
        ASSERT_TRUE(std::is_sorted(found->nodes.begin(), found->nodes.end()));
        ASSERT_EQ(std::set<Node>(found->nodes.begin(), found->nodes.end()).size(), nodes);
        ASSERT_TRUE(occupancy.fits(*found));
        ASSERT_GE(found->diameter, diameter_of(machine.network(), found->nodes));
        Bits passed(machine.rule().passage_count());
        walk_routes(machine.network(), exclusive, found->nodes, passed);
        ASSERT_EQ(passed, found->passages);
        Running job{{std::to_string(step), found->nodes}, *found};
        const auto met = verifier.start(job.job);
        ASSERT_EQ(met.empty(), found->closed);
        if (policy.closed) {
          ASSERT_TRUE(met.empty()) << to_string(met[0], machine.network());
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

/// Jobs of two nodes side by side and of one node, as they fall.
Occupancy random_occupancy(const AllocationMachine& machine, Random& random, std::uint64_t jobs) {
  Occupancy occupancy(machine);
  for (std::uint64_t i = 0; i < jobs; ++i) {
    const auto first = static_cast<std::uint32_t>(random.below(machine.node_count() - 1));
    std::vector<Node> nodes{Node{first}};
    if (random.below(3) > 0) nodes.push_back(Node{first + 1});
    const Allotment allotment = describe(machine, occupancy, nodes);
    if (occupancy.fits(allotment) && allotment.closed) occupancy.add(allotment);
  }
  return occupancy;
}

/// The least diameter of a box, at any place, that holds enough free nodes and nothing held; none: there is no such
/// box.
std::optional<std::uint32_t> least_box(const Occupancy& occupancy, std::uint32_t width, std::uint32_t height,
                                       std::uint32_t nodes) {
  std::optional<std::uint32_t> least;
  for (std::uint32_t columns = 1; columns <= width; ++columns) {
    for (std::uint32_t rows = 1; rows <= height; ++rows) {
      for (std::uint32_t x = 0; x + columns <= width; ++x) {
        for (std::uint32_t y = 0; y + rows <= height; ++y) {
          std::uint32_t free = 0;
          bool clear = true;
          for (std::uint32_t j = y; j < y + rows; ++j) {
            for (std::uint32_t i = x; i < x + columns; ++i) {
              clear = clear && !occupancy.held().test(j * width + i);
              free += occupancy.free().test(j * width + i) ? 1 : 0;
            }
          }
          if (clear && free >= nodes) least = std::min(least.value_or(UINT32_MAX), columns + rows - 2);
        }
      }
    }
  }
  return least;
}

TEST(ClosedBest, FindsTheLeastDiameterOfAllBoxes) {
  const Allocator allocator(allocation_machine("mesh:6x7 core:1", Exclusive::routers));
  Random random(3);
  int found_some = 0, found_none = 0;
  for (int i = 0; i < 400; ++i) {
    const Occupancy occupancy = random_occupancy(allocator.machine(), random, random.below(12));
    const auto nodes = 2 + static_cast<std::uint32_t>(random.below(20));
    const auto found = allocator.search().closed(occupancy, nodes, Prefer::least_diameter, {.waste = 100, .slack = 0});
    const auto least = least_box(occupancy, 7, 6, nodes);
    if (found) {
      ++found_some;
      ASSERT_TRUE(least);
      EXPECT_EQ(found->diameter, *least) << nodes << " nodes";
    } else {
      ++found_none;
      EXPECT_FALSE(least) << nodes << " nodes";
    }
  }
  EXPECT_GT(found_some, 50);
  EXPECT_GT(found_none, 20);
}

TEST(ClosedBest, GivesTheTemplatesDiameterOnAnEmptyMesh) {
  const Allocator allocator(allocation_machine("mesh:16x16 core:1", Exclusive::routers));
  const Occupancy empty(allocator.machine());
  for (std::uint32_t n = 1; n <= 256; ++n) {
    const auto best = allocator.search().closed(empty, n, Prefer::least_diameter, {.slack = 0});
    ASSERT_TRUE(best) << n;
    EXPECT_EQ(best->diameter, mesh_least_diameter(n)) << n;
    const auto minimum = allocator.search().closed_minimum(empty, n);
    ASSERT_TRUE(minimum);
    EXPECT_EQ(minimum->diameter, mesh_least_diameter(n));
    const auto [columns, rows] = mesh_template(n);
    EXPECT_EQ(minimum->nodes.size() + minimum->kept.size(), columns * rows);
  }
}

TEST(ClosedBest, GivesTheTemplatesDiameterOnAnEmptyTree) {
  const Allocator allocator(allocation_machine("tree:4,4,4 core:1", Exclusive::routers));
  const Occupancy empty(allocator.machine());
  for (std::uint32_t n = 1; n <= 64; ++n) {
    EXPECT_EQ(allocator.search().closed(empty, n, Prefer::least_diameter, {})->diameter, tree_least_diameter(4, n));
    const auto minimum = allocator.search().closed_minimum(empty, n);
    EXPECT_EQ(minimum->diameter, tree_least_diameter(4, n));
    EXPECT_EQ(minimum->nodes.size() + minimum->kept.size(), 1U << (2 * (tree_template_levels(4, n) - 1)));
  }
}

TEST_P(EveryPolicy, HasAPlaceForEverySizeOnAnEmptyMachine) {
  const Allocator allocator(allocation_machine(GetParam(), Exclusive::links));
  for (const PolicyInfo& policy : policies()) {
    for (std::uint32_t nodes = 1; nodes <= allocator.machine().node_count(); ++nodes) {
      const Occupancy empty(allocator.machine());
      EXPECT_TRUE(place(allocator, empty, policy, nodes, {})) << policy.name << " " << nodes;
    }
  }
}

TEST(ClosedBest, LaysABoxAroundAJobOfOneNode) {
  const Allocator allocator(allocation_machine("mesh:3x3 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  occupancy.add(describe(allocator.machine(), occupancy, {Node{4}}));
  const auto found = allocator.search().closed(occupancy, 8, Prefer::least_diameter, {});
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->closed);
}

TEST(ClosedBest, PutsAJobOfOneNodeIntoTheRestOfABox) {
  const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  const auto first = allocator.search().closed(occupancy, 8, Prefer::least_diameter, {});
  ASSERT_TRUE(first);
  Allotment seven = describe(allocator.machine(), occupancy, {first->nodes.begin(), first->nodes.end() - 1});
  occupancy.add(seven);
  const auto guest = allocator.search().closed(occupancy, 1, Prefer::least_diameter, {});
  ASSERT_TRUE(guest);
  EXPECT_EQ(guest->nodes[0], first->nodes.back());
}

TEST(MinDiameter, IsTheLeastOfAllSetsInAFlatMesh) {
  const Allocator allocator(allocation_machine("mesh:3x4 core:1", Exclusive::routers));
  Random random(9);
  for (int i = 0; i < 40; ++i) {
    const Occupancy occupancy = random_occupancy(allocator.machine(), random, random.below(5));
    const auto nodes = 2 + static_cast<std::uint32_t>(random.below(4));
    if (occupancy.free_count() < nodes) continue;
    std::uint32_t least = UINT32_MAX;
    for (std::uint32_t set = 0; set < 1U << 12; ++set) {
      std::vector<Node> chosen;
      for (std::uint32_t node = 0; node < 12; ++node) {
        if (((set >> node) & 1) != 0 && occupancy.free().test(node)) chosen.push_back(Node{node});
      }
      if (chosen.size() == nodes) least = std::min(least, diameter_of(allocator.machine().network(), chosen));
    }
    EXPECT_EQ(allocator.search().nearest(occupancy, nodes).diameter, least);
  }
}

TEST(Fallback, IsWhatTheUserChose) {
  const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  // Rows 1 and 3 are taken: the largest box left is a row of four.
  for (const std::uint32_t row : {1U, 3U}) {
    std::vector<Node> nodes;
    for (std::uint32_t x = 0; x < 4; ++x) nodes.push_back(Node{row * 4 + x});
    occupancy.add(describe(allocator.machine(), occupancy, nodes));
  }
  const PolicyInfo& minimum = **find_policy("closed-minimum");
  EXPECT_FALSE(place(allocator, occupancy, minimum, 4, {}));
  const auto near = place(allocator, occupancy, minimum, 6, {.fallback = Fallback::diameter});
  ASSERT_TRUE(near);
  EXPECT_FALSE(near->closed);
  const auto wide = place(allocator, occupancy, minimum, 4, {.fallback = Fallback::closed});
  ASSERT_TRUE(wide);
  EXPECT_TRUE(wide->closed);
  EXPECT_EQ(wide->diameter, 3);
  EXPECT_FALSE(place(allocator, occupancy, minimum, 6, {.fallback = Fallback::closed}));
}

TEST(FatTree, SharesSwitchesButNoLinks) {
  // Two jobs of eight nodes, each across two leaves of four, in one pod of a tree with full bisection.
  const Allocator allocator(allocation_machine("fattree:4,4,4/4,4,1 core:1", Exclusive::links));
  Occupancy occupancy(allocator.machine());
  std::vector<RunningJob> jobs;
  for (const char* const name : {"a", "b", "c", "d", "e", "f", "g", "h"}) {
    const auto found = place(allocator, occupancy, **find_policy("closed-best"), 8, {});
    ASSERT_TRUE(found) << name;
    occupancy.add(*found);
    jobs.push_back({name, found->nodes});
  }
  EXPECT_TRUE(verify(allocator.machine().network(), Exclusive::links, jobs).empty());
  EXPECT_EQ(occupancy.free_count(), 0);
}

TEST(FindPolicy, SuggestsTheNearestName) {
  const auto unknown = find_policy("closed-bets");
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().hint.find("closed-best"), std::string::npos);
}

}  // namespace
}  // namespace rankloom
