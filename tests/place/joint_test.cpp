// SPDX-License-Identifier: Apache-2.0
// tests: sets of nodes up to symmetry, mappings of jobs onto them, and replays of workloads with patterns.
#include <algorithm>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "rankloom/allocate/workload/workload_replay.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "rankloom/place/joint/joint_model.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::topology;

std::vector<Node> nodes_of(std::vector<std::uint32_t> numbers) {
  std::vector<Node> nodes;
  std::sort(numbers.begin(), numbers.end());
  for (const std::uint32_t number : numbers) nodes.push_back(Node{number});
  return nodes;
}

void expect_same_distances(const Network& network, const NodeSet& a, const NodeSet& b) {
  ASSERT_EQ(a.key, b.key);
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    for (std::size_t j = 0; j < a.nodes.size(); ++j)
      ASSERT_EQ(network.hops(a.nodes[i], a.nodes[j]), network.hops(b.nodes[i], b.nodes[j])) << a.key;
  }
}

TEST(NodeSets, ThatDifferByATranslationOfATorusAreEqual) {
  const Topology machine = topology("torus:6x8 core:1");
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    std::set<std::uint32_t> numbers;
    const std::uint64_t count = 2 + random.below(12);
    while (numbers.size() < count) numbers.insert(static_cast<std::uint32_t>(random.below(48)));
    std::vector<std::uint32_t> moved;
    const auto dx = static_cast<std::uint32_t>(random.below(8)), dy = static_cast<std::uint32_t>(random.below(6));
    for (const std::uint32_t number : numbers) moved.push_back((number / 8 + dy) % 6 * 8 + (number % 8 + dx) % 8);
    const auto a = canonical_node_set(machine.network(), nodes_of({numbers.begin(), numbers.end()}));
    const auto b = canonical_node_set(machine.network(), nodes_of(moved));
    // Where two gaps are equally large, the first position is not determined.
    if (a.key == b.key) expect_same_distances(machine.network(), a, b);
  }
}

TEST(NodeSets, BoxesOfOneShapeAreEqualInAnyPositionAndDirection) {
  const Topology machine = topology("torus:8x8 core:1");
  const auto box = [&](std::uint32_t x, std::uint32_t y, std::uint32_t width, std::uint32_t height) {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t j = 0; j < height; ++j) {
      for (std::uint32_t i = 0; i < width; ++i) numbers.push_back((y + j) % 8 * 8 + (x + i) % 8);
    }
    return canonical_node_set(machine.network(), nodes_of(numbers));
  };
  const NodeSet first = box(0, 0, 4, 2);
  EXPECT_EQ(first.extents, (std::vector<std::uint32_t>{4, 2}));
  for (std::uint32_t x = 0; x < 8; ++x) {
    for (std::uint32_t y = 0; y < 8; ++y) {
      expect_same_distances(machine.network(), first, box(x, y, 4, 2));
      expect_same_distances(machine.network(), first, box(x, y, 2, 4));
    }
  }
  EXPECT_NE(box(0, 0, 2, 2).key, first.key);
  EXPECT_NE(box(0, 0, 8, 1).key, box(0, 0, 7, 1).key);
}

TEST(NodeSets, BoxesAreOrderedAsASnakeAndByBisection) {
  const Topology machine = topology("torus:8x8x4 core:1");
  std::vector<std::uint32_t> numbers;  // 4 x 2 x 4 around the end of both first dimensions
  for (const std::uint32_t x : {6U, 7U, 0U, 1U}) {
    for (const std::uint32_t y : {7U, 0U}) {
      for (std::uint32_t z = 0; z < 4; ++z) numbers.push_back((x * 8 + y) * 4 + z);
    }
  }
  const NodeSet set = canonical_node_set(machine.network(), nodes_of(numbers));
  const std::vector<Node> snake = snake_order(set), halves = bisection_order(set);
  for (const auto* const order : {&snake, &halves})
    EXPECT_EQ(std::set<Node>(order->begin(), order->end()), std::set<Node>(set.nodes.begin(), set.nodes.end()));
  for (std::size_t i = 1; i < snake.size(); ++i) EXPECT_EQ(machine.network().hops(snake[i - 1], snake[i]), 1U) << i;
  // 32 nodes: two cuts make 2 x 2 x 2, whose nodes are at most 3 links from each other.
  for (std::size_t first = 0; first < halves.size(); first += 8) {
    for (std::size_t i = first; i < first + 8; ++i) {
      for (std::size_t j = first; j < first + 8; ++j) EXPECT_LE(machine.network().hops(halves[i], halves[j]), 3U);
    }
  }
}

TEST(NodeSets, OfTreesDependOnTheNumbersOfNodesBelowSwitches) {
  for (const char* const text : {"tree:3,2,4 core:1", "fattree:3,2,4/2,2,1 core:1"}) {
    const Topology machine = topology(text);
    const auto set = [&](std::vector<std::uint32_t> numbers) {
      return canonical_node_set(machine.network(), nodes_of(std::move(numbers)));
    };
    expect_same_distances(machine.network(), set({0, 1, 4}), set({3, 6, 7}));
    expect_same_distances(machine.network(), set({0, 1, 2}), set({21, 22, 23}));
    expect_same_distances(machine.network(), set({0, 1, 8, 9, 10}), set({2, 16, 18, 3, 17}));
    EXPECT_NE(set({0, 1, 4}).key, set({0, 1, 8}).key) << text;
    EXPECT_NE(set({0, 1, 2}).key, set({0, 1, 4}).key) << text;
  }
}

TEST(TrafficMapper, GivesEveryRankASlotOfTheNodesAndIsNotSlowerThanTheirOrder) {
  for (const char* const text : {"torus:6x6 core:2", "mesh:4x4x3 core:1", "fattree:3,3,4/3,3,1 core:2",
                                 "switch:3 node:4 core:3", "dragonfly:4,3,2 core:1"}) {
    SCOPED_TRACE(text);
    const Topology machine = topology(text);
    auto mapper = TrafficMapper::create(machine, "auto:effort=fast");
    ASSERT_TRUE(mapper);
    const std::uint32_t per_node = machine.core_count() / machine.node_count();
    const std::vector<Node> nodes = nodes_of({1, 2, 4, 5, 7, 8, 10, 11});
    const auto graph = pattern_graph("stencil2d", 8 * per_node);
    ASSERT_TRUE(graph);
    const auto core_of = mapper->place({1, *graph}, nodes);
    std::set<Core> used(core_of.begin(), core_of.end());
    EXPECT_EQ(used.size(), graph->rank_count());
    for (const Core core : used)
      EXPECT_TRUE(std::find(nodes.begin(), nodes.end(), machine.node_of(core)) != nodes.end());
    const double mapped = predict(*graph, mapper->platform(), core_of).seconds;
    const double block = predict(*graph, mapper->platform(), mapper->block(graph->rank_count(), nodes)).seconds;
    EXPECT_LE(mapped, block * (1 + 1e-9));
    EXPECT_LE(mapped, mapper->estimate({1, *graph}, nodes) * (1 + 1e-9));
  }
}

TEST(TrafficMapper, ReusesTheEstimateOfAShape) {
  const Topology machine = topology("torus:8x8 core:1");
  auto mapper = TrafficMapper::create(machine, "auto:effort=fast");
  ASSERT_TRUE(mapper);
  const auto graph = pattern_graph("ring", 8);
  const double first = mapper->estimate({1, *graph}, nodes_of({0, 1, 2, 3, 8, 9, 10, 11}));
  EXPECT_DOUBLE_EQ(mapper->estimate({1, *graph}, nodes_of({7, 0, 15, 8, 23, 16, 31, 24})), first);
  EXPECT_EQ(mapper->computed(), 1U);
  EXPECT_EQ(mapper->reused(), 1U);
}

TEST(TrafficMapper, EstimatesUseTheBestOrderOfTheNodes) {
  const Topology machine = topology("mesh:16x16 core:1");
  auto mapper = TrafficMapper::create(machine, "auto:effort=fast");
  ASSERT_TRUE(mapper);
  std::vector<std::uint32_t> box;
  for (std::uint32_t i = 0; i < 64; ++i) box.push_back(i / 8 * 16 + i % 8);
  std::uint64_t id = 0;
  for (const char* const pattern : {"stencil2d:size=4x16", "ring:bytes=100000", "blocks:group=8,shuffle=false"}) {
    const auto graph = pattern_graph(pattern, 64);
    ASSERT_TRUE(graph) << pattern;
    ++id;
    const double estimate = mapper->estimate({id, *graph}, nodes_of(box));
    const double block = predict(*graph, mapper->platform(), mapper->block(64, nodes_of(box))).seconds;
    EXPECT_LT(estimate, block) << pattern;
    const std::vector<Core> placed = mapper->place({id, *graph}, nodes_of(box));
    EXPECT_LE(predict(*graph, mapper->platform(), placed).seconds, estimate * (1 + 1e-9)) << pattern;
  }
}

TEST(TrafficMapper, ComparesFewerSetsForLargeJobs) {
  const Topology machine = topology("torus:64x64 core:1");
  auto mapper = TrafficMapper::create(machine, "auto:effort=fast");
  ASSERT_TRUE(mapper);
  const auto small = pattern_graph("ring", 64), large = pattern_graph("random:degree=6", 4096);
  ASSERT_TRUE(small && large);
  EXPECT_GT(mapper->affordable_sets({1, *small}, 64), 12U);
  EXPECT_EQ(mapper->affordable_sets({2, *large}, 4096), 2U);
}

// A ring of 16 ranks has a Hamiltonian cycle in both boxes, an exchange of all ranks has half of the links between the
// halves of the long box.
TEST(JobFit, PrefersTheSquareForAnExchangeOfAllRanks) {
  const Topology machine = topology("mesh:8x8 core:1");
  auto mapper = TrafficMapper::create(machine, "auto:effort=fast");
  ASSERT_TRUE(mapper);
  const auto graph = pattern_graph("alltoall", 16);
  const JobFit fit(*mapper, {1, *graph}, 0.5, 1);
  std::vector<std::uint32_t> square, row;
  for (std::uint32_t i = 0; i < 16; ++i) {
    square.push_back(i / 4 * 8 + i % 4);
    row.push_back(i / 8 * 8 + i % 8);
  }
  EXPECT_LT(fit.run_time(nodes_of(square), {}), fit.run_time(nodes_of(row), {}));
}

TEST(JointModel, RefusesUnknownPatternsAndMappers) {
  const AllocationMachine machine(topology("mesh:4x4 core:1"), Exclusive::routers);
  EXPECT_FALSE(JointModel::create(machine, {{"stencil9d", 0.3}}, "block"));
  EXPECT_FALSE(JointModel::create(machine, {{"ring", 0.3}}, "blocks"));
}

TEST(JointModel, DefaultPatternsHaveAnyNumberOfRanks) {
  for (const std::string_view pattern : default_job_patterns()) {
    for (const std::uint64_t ranks : {2U, 7U, 36U}) {
      const auto graph = pattern_graph(std::string(pattern), ranks);
      ASSERT_TRUE(graph) << pattern << ": " << to_string(graph.error());
      EXPECT_EQ(graph->rank_count(), ranks);
    }
  }
}

TEST(SplitPatterns, KeepsOptionsWithTheirPattern) {
  EXPECT_EQ(split_patterns("stencil3d:points=27,halo=2@0.3,ring,alltoall:bytes=8"),
            (std::vector<std::string>{"stencil3d:points=27,halo=2@0.3", "ring", "alltoall:bytes=8"}));
  EXPECT_TRUE(split_patterns("").empty());
}

TEST(JointReplay, ClosedFitIsolatesEveryJobAndIsNotSlowerThanBlock) {
  for (const char* const text : {"torus:4x4 core:1", "mesh:4x5 core:2", "fattree:4,2,2/2,2,1 core:1"}) {
    SCOPED_TRACE(text);
    const Topology machine = topology(text);
    const Allocator allocator(AllocationMachine(machine, default_exclusive(machine.network())));
    auto workload = lublin_workload({.jobs = 60, .nodes = 12, .seed = 4});
    assign_applications(*workload, {{"ring", 0.5}, {"stencil2d", 0.4}, {"alltoall", 0.3}}, 2);
    std::map<std::string, ReplayResult> results;
    for (const auto& [policy, mapper] :
         {std::pair("closed-fit", "auto:effort=fast"), std::pair("first-fit", "block")}) {
      auto model = JointModel::create(allocator.machine(), workload->applications, mapper);
      ASSERT_TRUE(model);
      ReplayOptions options{.load = 1, .verify = true, .allocation = {}};
      options.communication = model->get();
      options.allocation.fit.max_seconds = 1000;
      auto result = replay(allocator, **find_policy(policy), *workload, options);
      ASSERT_TRUE(result);
      results.emplace(policy, *result);
    }
    const ReplayResult& fit = results.at("closed-fit");
    EXPECT_EQ(fit.conflicts, 0U);
    EXPECT_DOUBLE_EQ(fit.contention_free(), 1);
    EXPECT_EQ(fit.jobs, 60U);
    EXPECT_GT(fit.communicating, 20U);
    EXPECT_LE(fit.communication_ratio, results.at("first-fit").communication_ratio);
  }
}

}  // namespace
}  // namespace rankloom
