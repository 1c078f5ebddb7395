// SPDX-License-Identifier: Apache-2.0
// tests: the policy closed-fit with run times that a test decides, on every network.
#include "rankloom/allocate/closed_fit.hpp"

#include <bit>
#include <cmath>
#include <deque>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "rankloom/allocate/routing/conflict_verifier.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;
using testing::networks_of_every_kind;

/// The run time is a number that a function computes from the nodes.
class GivenRunTime final : public RunTimeModel {
 public:
  using Function = double (*)(std::span<const Node>);
  explicit GivenRunTime(Function function) : function_(function) {}
  double run_time(std::span<const Node> nodes, const Deadline&) const override {
    ++calls;
    return function_(nodes);
  }
  mutable int calls = 0;

  std::size_t max_sets(std::size_t) const override { return 100; }

 private:
  Function function_;
};

/// Any order of the sets, the same in every run.
double arbitrary(std::span<const Node> nodes) {
  std::uint64_t hash = 7;
  for (const Node node : nodes) hash = mix(hash ^ index(node));
  return 1 + static_cast<double>(hash % 1000) / 1000;
}

/// The number of rows of an 8x8 mesh that the nodes use: long boxes along a row are the fastest.
double rows_of_8x8(std::span<const Node> nodes) {
  std::set<std::uint32_t> rows;
  for (const Node node : nodes) rows.insert(index(node) / 8);
  return static_cast<double>(rows.size());
}

double constant(std::span<const Node>) {
  return 1;
}

AllocationOptions options_with(const RunTimeModel& model, Prefer prefer) {
  AllocationOptions options;
  options.fit.run_time = &model;
  options.fit.prefer = prefer;
  options.fit.max_seconds = 1000;
  return options;
}

class ClosedFitOnEveryNetwork : public ::testing::TestWithParam<std::string> {};

// The verifier walks all routes and shares no code with the search.
TEST_P(ClosedFitOnEveryNetwork, EveryProposedSetIsIsolatedAndOneIsFoundIfClosedBestFindsOne) {
  const GivenRunTime model(arbitrary);
  for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
    const Allocator allocator(allocation_machine(GetParam(), exclusive));
    const AllocationMachine& machine = allocator.machine();
    Occupancy occupancy(machine);
    ConflictVerifier verifier(machine.network(), exclusive);
    std::deque<std::pair<std::string, Allocation>> running;
    Random random(5);
    std::size_t several = 0;
    for (int step = 0; step < 60; ++step) {
      if (!running.empty() && random.below(3) == 0) {
        const auto at = running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size()));
        occupancy.remove(at->second);
        verifier.end(at->first);
        running.erase(at);
      }
      const auto nodes = 1 + static_cast<std::uint32_t>(random.below(1 + machine.node_count() / (1 + random.below(6))));
      SCOPED_TRACE(fmt::format("{} {} {} nodes, step {}", GetParam(), name_of(exclusive), nodes, step));
      const auto candidates = allocator.search().find_candidates(occupancy, nodes, {}, 12);
      const auto best = allocator.search().find_isolated(occupancy, nodes, Objective::min_diameter, {});
      ASSERT_EQ(best.has_value(), !candidates.empty());
      const auto fewest = allocator.search().find_isolated(occupancy, nodes, Objective::min_nodes, {});
      ASSERT_EQ(allocator.search().has_isolated(occupancy, nodes), fewest.has_value());
      ASSERT_LE(candidates.size(), 12U);
      std::set<std::vector<Node>> different;
      for (const Candidate& candidate : candidates) {
        const Allocation& allocation = candidate.allocation;
        ASSERT_EQ(allocation.nodes.size(), nodes);
        ASSERT_TRUE(std::is_sorted(allocation.nodes.begin(), allocation.nodes.end()));
        ASSERT_TRUE(occupancy.fits(allocation));
        ASSERT_GE(candidate.packing_cost, 0.2 * nodes - 1e-9);
        ASSERT_FALSE(candidate.shape.empty());
        different.insert(allocation.nodes);
        const auto conflicts = verifier.start({"candidate", allocation.nodes});
        verifier.end("candidate");
        ASSERT_TRUE(conflicts.empty()) << candidate.shape << ": " << to_string(conflicts[0], machine.network());
      }
      ASSERT_EQ(different.size(), candidates.size());
      several += candidates.size() > 1 ? 1 : 0;
      const auto chosen = allocate_nodes(allocator, occupancy, **find_policy("closed-fit"), nodes,
                                         options_with(model, all_preferences[step % 3]));
      ASSERT_EQ(chosen.has_value(), best.has_value());
      if (!chosen) continue;
      if (nodes > 1) {
        ASSERT_TRUE(different.contains(chosen->nodes));
      }
      const std::string name = std::to_string(step);
      ASSERT_TRUE(verifier.start({name, chosen->nodes}).empty());
      occupancy.add(*chosen);
      running.emplace_back(name, *chosen);
    }
    if (machine.node_count() > 15) {
      EXPECT_GT(several, 5U) << name_of(exclusive);
    }
  }
}

std::string name_of_network(const ::testing::TestParamInfo<std::string>& info) {
  std::string name;
  for (const char c : info.param) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Networks, ClosedFitOnEveryNetwork, ::testing::ValuesIn(networks_of_every_kind()),
                         name_of_network);

const Allocator& mesh_8x8() {
  static const Allocator allocator(allocation_machine("mesh:8x8 core:1", Exclusive::routers));
  return allocator;
}

TEST(ClosedFit, TakesTheShapeWithTheShortestRunTime) {
  const GivenRunTime model(rows_of_8x8);
  const Occupancy empty(mesh_8x8().machine());
  const auto decision = choose_fit(mesh_8x8(), empty, 16, options_with(model, Prefer::job));
  ASSERT_TRUE(decision);
  EXPECT_EQ(rows_of_8x8(decision->allocation.nodes), 2);
  EXPECT_EQ(decision->sets[decision->chosen].shape, "box 2x8");
  EXPECT_EQ(explain(*decision), "box 2x8: predicted run time 50 % below box 4x4, nodes taken from others 5 % below");
}

// The box 4x4 in a corner has eight free neighbours and eight faces at edges, the box 2x8 along an edge has eight free
// neighbours and twelve faces at edges; 3x6 has nine of both and encloses two nodes.
TEST(ClosedFit, TakesTheTightestPackingIfAsked) {
  const GivenRunTime model(rows_of_8x8);
  const Occupancy empty(mesh_8x8().machine());
  const auto decision = choose_fit(mesh_8x8(), empty, 16, options_with(model, Prefer::packing));
  ASSERT_TRUE(decision);
  for (const ScoredSet& set : decision->sets)
    EXPECT_LE(decision->sets[decision->chosen].packing_cost, set.packing_cost) << set.shape;
  EXPECT_DOUBLE_EQ(decision->sets[decision->chosen].packing_cost, 16 + 0.1 * 8 - 0.2 * 12);
}

// The box 2x8 takes 14.4 nodes and the box 4x4 takes 15.2 (5.6 % more), which is worth a run that is 17 % shorter.
TEST(ClosedFit, LeavesTheTightestPackingForAMuchShorterRun) {
  static double time_of_square;
  const auto time = [](std::span<const Node> nodes) { return rows_of_8x8(nodes) == 4 ? time_of_square : 1.0; };
  const GivenRunTime model(time);
  const Occupancy empty(mesh_8x8().machine());
  for (const auto& [square, is_worth_it] : {std::pair(0.87, false), std::pair(0.80, true)}) {
    time_of_square = square;
    const auto decision = choose_fit(mesh_8x8(), empty, 16, options_with(model, Prefer::balanced));
    ASSERT_TRUE(decision);
    EXPECT_EQ(decision->sets[decision->chosen].shape == "box 4x4", is_worth_it) << square;
  }
}

TEST(ClosedFit, BalancesRunTimeAndPacking) {
  const GivenRunTime model(rows_of_8x8);
  const Occupancy empty(mesh_8x8().machine());
  const auto decision = choose_fit(mesh_8x8(), empty, 12, options_with(model, Prefer::balanced));
  ASSERT_TRUE(decision);
  const ScoredSet& chosen = decision->sets[decision->chosen];
  for (const ScoredSet& set : decision->sets)
    EXPECT_LE(std::pow(chosen.run_time, 0.3) * chosen.packing_cost,
              std::pow(set.run_time, 0.3) * set.packing_cost * (1 + 1e-9))
        << set.shape;
}

TEST(ClosedFit, IsClosedBestWithoutTraffic) {
  const Occupancy empty(mesh_8x8().machine());
  const auto best = allocate_nodes(mesh_8x8(), empty, **find_policy("closed-best"), 12, {});
  const auto fit = allocate_nodes(mesh_8x8(), empty, **find_policy("closed-fit"), 12, {});
  ASSERT_TRUE(best && fit);
  EXPECT_EQ(best->nodes, fit->nodes);
  EXPECT_EQ(explain(*choose_fit(mesh_8x8(), empty, 12, {})),
            "the traffic of the job is not known: chosen as closed-best");
}

TEST(ClosedFit, ScoresOneSetIfThereIsNoTime) {
  const GivenRunTime model(rows_of_8x8);
  AllocationOptions options = options_with(model, Prefer::job);
  options.fit.max_seconds = 0;
  const Occupancy empty(mesh_8x8().machine());
  const auto decision = choose_fit(mesh_8x8(), empty, 16, options);
  ASSERT_TRUE(decision);
  EXPECT_EQ(decision->sets.size(), 1U);
  EXPECT_EQ(model.calls, 1);
  EXPECT_GT(decision->not_scored, 0U);
  EXPECT_EQ(explain(*decision), "box 4x4: the only set that was scored in time");
}

TEST(ClosedFit, ComparesAtMostAsManySetsAsAllowed) {
  const GivenRunTime model(constant);
  AllocationOptions options = options_with(model, Prefer::job);
  options.fit.max_candidates = 2;
  const Occupancy empty(mesh_8x8().machine());
  EXPECT_EQ(choose_fit(mesh_8x8(), empty, 16, options)->sets.size(), 2U);
}

AllocationOptions leaving(std::uint32_t headroom, const RunTimeModel* model) {
  AllocationOptions options;
  options.fit.run_time = model;
  options.fit.headroom = headroom;
  return options;
}

std::optional<Allocation> closed_fit(const Allocator& allocator, const Occupancy& occupancy, std::uint32_t nodes,
                                     const AllocationOptions& options) {
  return allocate_nodes(allocator, occupancy, **find_policy("closed-fit"), nodes, options);
}

/// Whether a set of n nodes exists whose routes, walked by the verifier's rule, use no node, router or link in use.
bool has_isolated_set(const AllocationMachine& machine, const Occupancy& occupancy, std::uint32_t nodes) {
  const std::uint32_t all = machine.node_count();
  for (std::uint32_t chosen = 0; chosen < 1U << all; ++chosen) {
    if (static_cast<std::uint32_t>(std::popcount(chosen)) != nodes) continue;
    std::vector<Node> set;
    for (std::uint32_t node = 0; node < all; ++node) {
      if ((chosen >> node & 1) != 0) set.push_back(Node{node});
    }
    if (!std::all_of(set.begin(), set.end(), [&](Node node) { return occupancy.free_nodes().test(index(node)); }))
      continue;
    Bitset used(machine.route_footprint().resource_count());
    walk_routes(machine.network(), machine.exclusive(), set, used);
    if (!occupancy.conflicts_with(used)) return true;
  }
  return false;
}

// Random jobs on small machines. Wherever a long job gets nodes, all sets of the remaining ones are tried.
TEST(Headroom, IsLeftOrTheJobGetsNoNodes) {
  const GivenRunTime model(arbitrary);
  for (const char* text : {"mesh:4x4 core:1", "torus:4x4 core:1", "fattree:4,4/4,2 core:1", "tree:4,4 core:1"}) {
    for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
      const Allocator allocator(allocation_machine(text, exclusive));
      ASSERT_EQ(allocator.machine().node_count(), 16U);
      Occupancy occupancy(allocator.machine());
      std::deque<Allocation> running;
      Random random(11);
      std::size_t kept = 0, refused = 0;
      for (int step = 0; step < 80; ++step) {
        if (!running.empty() && random.below(5) < 2) {
          std::swap(running.front(), running[random.below(running.size())]);
          occupancy.remove(running.front());
          running.pop_front();
        }
        const auto nodes = 1 + static_cast<std::uint32_t>(random.below(6));
        SCOPED_TRACE(fmt::format("{} {} {} nodes, step {}", text, name_of(exclusive), nodes, step));
        const RunTimeModel* const run_time = random.below(2) == 0 ? &model : nullptr;
        const auto chosen = closed_fit(allocator, occupancy, nodes, leaving(4, run_time));
        const auto without = closed_fit(allocator, occupancy, nodes, leaving(0, run_time));
        if (!chosen) refused += without ? 1 : 0;
        if (chosen) {
          ASSERT_TRUE(without);
        }
        const auto& next = chosen ? chosen : without;
        if (!next) continue;
        occupancy.add(*next);
        running.push_back(*next);
        if (!chosen) continue;
        ++kept;
        ASSERT_TRUE(has_isolated_set(allocator.machine(), occupancy, 4));
      }
      EXPECT_GT(kept, 5U) << text << " " << name_of(exclusive);
      EXPECT_GT(refused, 5U) << text << " " << name_of(exclusive);
    }
  }
}

TEST(Headroom, DecidesWhichSetAJobGets) {
  const Allocator allocator(allocation_machine("mesh:4x5 core:1", Exclusive::routers));
  Occupancy occupancy(allocator.machine());
  for (const std::uint32_t node : {2U, 3U, 7U, 8U, 9U, 10U, 11U, 12U, 13U, 14U}) occupancy.drain(Node{node}, true);
  const GivenRunTime model([](std::span<const Node> nodes) { return index(nodes.front()) >= 15 ? 1.0 : 2.0; });
  const auto nodes_of = [&](std::uint32_t headroom) {
    AllocationOptions options = leaving(headroom, &model);
    options.fit.prefer = Prefer::job;
    return closed_fit(allocator, occupancy, 4, options);
  };
  EXPECT_GE(index(nodes_of(0)->nodes.front()), 15U);
  occupancy.add(make_allocation(allocator.machine(), occupancy, {Node{4}}));
  EXPECT_EQ(nodes_of(5)->nodes, (std::vector{Node{0}, Node{1}, Node{5}, Node{6}}));
  EXPECT_FALSE(nodes_of(6));
}

TEST(ClosedFit, SpreadsEvenlyOverSwitchesAsOneCandidate) {
  const Allocator allocator(allocation_machine("fattree:4,4,8/4,4,1 core:1", Exclusive::links));
  const Occupancy empty(allocator.machine());
  const auto candidates = allocator.search().find_candidates(empty, 10, {}, 12);
  std::set<std::string> shapes;
  for (const Candidate& candidate : candidates) shapes.insert(candidate.shape);
  EXPECT_TRUE(shapes.contains("2 switches with 8+2 nodes"));
  EXPECT_TRUE(shapes.contains("2 switches with 5+5 nodes"));
}

TEST(Preferences, HaveNames) {
  for (const Prefer prefer : all_preferences) EXPECT_EQ(find_preference(name_of(prefer)), prefer);
  EXPECT_FALSE(find_preference("speed"));
}

}  // namespace
}  // namespace rankloom
