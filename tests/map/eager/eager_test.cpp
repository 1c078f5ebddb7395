// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/eager/eager_placement.hpp"
#include "tests/map/eager/eager_reference.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using testing::make_problem;
using testing::topology;

enum class Weights { whole, equal, real, spread };
enum class Loads { none, whole, real, some_zero, some_zero_real, one_heavy };

/// Random traffic; `density` is the fraction of pairs that communicate.
CommGraph random_graph_with_loads(std::uint32_t ranks, double density, Weights weights, Loads loads, Random& random) {
  CommGraphBuilder builder(ranks);
  const auto weight = [&]() -> double {
    switch (weights) {
      case Weights::whole:
        return static_cast<double>(1 + random.below(20));
      case Weights::equal:
        return 8;
      case Weights::real:
        return random.unit() + 0.1;
      case Weights::spread:
        return std::exp(20 * random.unit());
    }
    return 0;
  };
  for (std::uint32_t from = 0; from < ranks; ++from) {
    for (std::uint32_t to = 0; to < ranks; ++to) {
      if (random.unit() < density) builder.add(Rank{from}, Rank{to}, weight());
    }
  }
  std::vector<double> work;
  for (std::uint32_t rank = 0; rank < ranks && loads != Loads::none; ++rank) {
    switch (loads) {
      case Loads::whole:
        work.push_back(static_cast<double>(1 + random.below(9)));
        break;
      case Loads::real:
        work.push_back(random.unit());
        break;
      case Loads::some_zero:
        work.push_back(random.below(3) == 0 ? static_cast<double>(random.below(5)) : 0.0);
        break;
      case Loads::some_zero_real:
        work.push_back(random.below(3) == 0 ? random.unit() : 0.0);
        break;
      default:
        work.push_back(rank == ranks / 2 ? 1000.0 : 0.1);
        break;
    }
  }
  builder.set_loads(std::move(work));
  return std::move(builder).build(false);
}

const std::vector<const char*>& symmetric_trees() {
  static const std::vector<const char*> trees{"core:1",
                                              "core:7",
                                              "node:2=10 core:4=1",
                                              "node:4=10 package:2=3 core:4=1",
                                              "switch:2=9 node:2=5 cache:2=2 core:2=1",
                                              "node:3=10 package:1=2 core:5=1",
                                              "node:2=10 core:3*2=1"};
  return trees;
}

std::uint32_t slot_count(const Topology& machine) {
  std::uint32_t sum = 0;
  for (const Core core : machine.cores()) sum += machine.capacity(core);
  return sum;
}

/// Fewer tasks than slots, as many, some more, and many more.
std::vector<std::uint32_t> sizes_for(const Topology& machine, Random& random) {
  const std::uint32_t full = slot_count(machine);
  return {1 + static_cast<std::uint32_t>(random.below(full)), full,
          full + 1 + static_cast<std::uint32_t>(random.below(full)), 3 * full + 2};
}

/// Compares the implementation with the reference on random programs for one machine; returns the number of
/// comparisons.
int compare(const Topology& machine, std::uint64_t seed, bool by_load) {
  int compared = 0;
  Random random(seed, by_load ? 1 : 0);
  for (const double density : {1.0, 0.3, 0.05, 0.0}) {
    for (const Weights weights : {Weights::whole, Weights::equal, Weights::real, Weights::spread}) {
      for (const std::uint32_t ranks : sizes_for(machine, random)) {
        const auto loads = by_load ? static_cast<Loads>(1 + random.below(5)) : Loads::none;
        const CommGraph graph = random_graph_with_loads(ranks, density, weights, loads, random);
        const bool shared = ranks > slot_count(machine);
        const Capacities capacities = by_load && shared ? Capacities::unbounded(machine, ranks)
                                                        : *Capacities::of(machine, ranks, {.oversubscribe = true});
        const auto fast = eager_placement(graph, machine, capacities, graph.loads());
        EXPECT_EQ(fast, testing::paper::eager(graph, machine, capacities, by_load)) << ranks << " tasks, seed " << seed;
        EXPECT_TRUE(Mapping::create(fast, machine, capacities));
        ++compared;
        if (::testing::Test::HasFailure()) return compared;
      }
    }
  }
  return compared;
}

TEST(Eager, EqualsThePapersAlgorithmOnSymmetricTrees) {
  int compared = 0;
  for (const char* tree : symmetric_trees()) {
    SCOPED_TRACE(tree);
    for (std::uint64_t seed = 0; seed < 10; ++seed) compared += compare(topology(tree), seed, false);
  }
  EXPECT_GE(compared, 4000);
}

TEST(Eager, EqualsThePapersAlgorithmWithLoadsOnSymmetricTrees) {
  int compared = 0;
  for (const char* tree : symmetric_trees()) {
    SCOPED_TRACE(tree);
    for (std::uint64_t seed = 0; seed < 10; ++seed) compared += compare(topology(tree), seed, true);
  }
  EXPECT_GE(compared, 4000);
}

TEST(Eager, EqualsThePapersSection36OnEveryOtherMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const bool by_load : {false, true}) {
      SCOPED_TRACE(name);
      compare(machine, 1, by_load);
    }
  }
}

TEST(Eager, FindsTheSameGroupsWithAHeapAsWithALinearSearch) {
  // More than two dozen tasks per core, so that the heap is used.
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    const Topology machine = topology("node:2=10 core:2=1");
    const CommGraph graph = random_graph_with_loads(150, seed % 2 == 0 ? 0.03 : 0.4, static_cast<Weights>(seed % 4),
                                                    seed % 3 == 0 ? Loads::real : Loads::none, random);
    const Capacities capacities = Capacities::unbounded(machine, 150);
    EXPECT_EQ(eager_placement(graph, machine, capacities, graph.loads()),
              testing::paper::eager(graph, machine, capacities, seed % 3 == 0));
  }
}

TEST(Eager, GivesTheSameResultOnAnyNumberOfThreads) {
  Random random(5);
  const Topology machine = topology("node:40=10 package:4=3 core:32=1");
  const Topology uneven = topology("node:40=10 package:4=3 core:32=1 !core:7,500");
  const CommGraph graph = random_graph_with_loads(5100, 0.002, Weights::real, Loads::none, random);
  for (const Topology* const on : {&machine, &uneven}) {
    const auto run = [&](std::size_t threads) {
      const ThreadLimit limit(threads);
      return eager_placement(graph, *on, *Capacities::of(*on, 5100, {}), {});
    };
    const auto one = run(1);
    EXPECT_EQ(one, run(2));
    EXPECT_EQ(one, run(2));
  }
}

/// Figure 3: two tasks communicate the more the closer they are in a binary tree: 8 within a pair, then 4, 2, 1.
TEST(Eager, MapsTheExampleOfSection32) {
  CommGraphBuilder builder(16);
  for (std::uint32_t a = 0; a < 16; ++a) {
    for (std::uint32_t b = a + 1; b < 16; ++b) {
      const double bytes = a / 2 == b / 2 ? 8 : a / 4 == b / 4 ? 4 : a / 8 == b / 8 ? 2 : 1;
      builder.add(Rank{a}, Rank{b}, bytes);
    }
  }
  const auto problem = make_problem(std::move(builder).build(false), topology("machine:2=100 cache:2=10 core:2=1"),
                                    CostModel::bytes, {.oversubscribe = true});
  const auto core_of = testing::place_with("eager", problem).core_of;
  for (std::uint32_t x = 0; x < 16; ++x) EXPECT_EQ(core_of[x], Core{x / 2});
}

TEST(Eager, SpreadsFewTasksOverTheMachineAsThePaperDoes) {
  // Four tasks on two nodes of four cores: two per node, communicating tasks on the same node.
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{2}, 10);
  builder.add(Rank{1}, Rank{3}, 10);
  const auto problem = make_problem(std::move(builder).build(false), topology("node:2=10 core:4=1"));
  EXPECT_THAT(testing::place_with("eager", problem).core_of, ElementsAre(Core{0}, Core{4}, Core{1}, Core{5}));
}

TEST(Eager, GrowsAGroupWhileItsLoadIsBelowTheRemainingLoadPerGroup) {
  // A load of 12 for two cores: 5 is below 6, so a second task joins; then 12 - 6 = 6 remain for the last core.
  CommGraphBuilder builder(4);
  builder.set_loads({5, 1, 3, 3});
  auto problem =
      make_problem(std::move(builder).build(false), topology("core:2=1"), CostModel::bytes, {.oversubscribe = true});
  EXPECT_THAT(testing::place_with("eager:load", problem).core_of, ElementsAre(Core{0}, Core{0}, Core{1}, Core{1}));
  // 1 and 2 are below 6, 10 reaches it; the other core gets the remaining task.
  CommGraphBuilder heavy(4);
  heavy.set_loads({1, 1, 8, 2});
  problem.graph = std::move(heavy).build(false);
  problem.capacities = Capacities::unbounded(problem.topology, 4);
  EXPECT_THAT(testing::place_with("eager:load", problem).core_of, ElementsAre(Core{0}, Core{0}, Core{0}, Core{1}));
}

TEST(Eager, PlacesTasksWithoutLoad) {
  CommGraphBuilder builder(9);
  builder.set_loads({7, 0, 0, 0, 0, 0, 0, 0, 0});
  const auto problem = make_problem(std::move(builder).build(false), topology("node:2=5 core:2=1"), CostModel::bytes,
                                    {.oversubscribe = true});
  const auto result = run_mapper(testing::mapper("eager:load"), problem.view(), MapRun{}, {.keep_worse = true});
  ASSERT_TRUE(result);
  // 7 exceeds the load per core; the eight tasks without load are distributed by number over the other three cores.
  EXPECT_THAT(result->mapping.cores(),
              ElementsAre(Core{0}, Core{1}, Core{1}, Core{1}, Core{2}, Core{2}, Core{2}, Core{3}, Core{3}));
}

TEST(Eager, IgnoresLoadsThatAreAllEqual) {
  for (const char* machine : {"node:2=10 core:4=1", "node:2=9 core:1+2=1", "torus:3x3=5 core:2=1",
                              "node:2=8 core:3*2=1", "node:3=10 core:2+7+4=1 !core:2"}) {
    SCOPED_TRACE(machine);
    for (const std::uint32_t ranks : {5, 8, 23, 40}) {
      Random random(ranks);
      CommGraph graph = random_graph_with_loads(ranks, 0.3, Weights::whole, Loads::none, random);
      auto rows = std::move(graph).release();
      rows.loads.assign(ranks, 2.5);
      const auto problem = make_problem(CommGraph(std::move(rows)), topology(machine), CostModel::bytes,
                                        {.oversubscribe = true, .imbalance = 0.5});
      const auto run = [&](const char* spec) {
        return run_mapper(testing::mapper(spec), problem.view(), MapRun{}, {.keep_worse = true})->mapping;
      };
      const Mapping without_loads = run("eager");
      EXPECT_EQ(run("eager:load"), without_loads);
      EXPECT_EQ(run("eager:balance"), without_loads);
    }
  }
}

TEST(Eager, GivesMachinesTasksInProportionToTheirCores) {
  const auto on_nodes = [](const char* machine, std::uint32_t ranks) {
    const auto problem = make_problem(std::move(CommGraphBuilder(ranks)).build(false), topology(machine),
                                      CostModel::bytes, {.oversubscribe = true});
    std::vector<std::uint32_t> counts(problem.topology.node_count(), 0);
    for (const Core core : testing::place_with("eager", problem).core_of)
      ++counts[index(problem.topology.node_of(core))];
    return counts;
  };
  EXPECT_THAT(on_nodes("node:3=10 core:2+7+4=1", 13), ElementsAre(2, 7, 4));
  EXPECT_THAT(on_nodes("node:3=10 core:2+7+4=1", 26), ElementsAre(4, 14, 8));
  // 10 x (2, 7, 4) / 13 = 1.54, 5.38, 3.08: the machine with the largest remainder gets one more task.
  EXPECT_THAT(on_nodes("node:3=10 core:2+7+4=1", 10), ElementsAre(2, 5, 3));
  // Two cores are excluded.
  EXPECT_THAT(on_nodes("node:2=10 core:4=1 !core:0-1", 6), ElementsAre(2, 4));
  EXPECT_THAT(on_nodes("mesh:2x2=1 core:2=1", 6), ElementsAre(2, 2, 1, 1));
}

TEST(Eager, KeepsCommunicatingTasksOnOneNodeOfANetworkThatIsNotATree) {
  const auto problem = make_problem(testing::shuffled_groups(6, 4, 3), topology("torus:2x3=5 core:4=1"));
  const auto core_of = testing::place_with("eager", problem).core_of;
  for (const Rank rank : problem.graph.ranks()) {
    for (const Rank partner : problem.graph.targets(rank)) {
      EXPECT_EQ(problem.topology.node_of(core_of[index(rank)]), problem.topology.node_of(core_of[index(partner)]));
    }
  }
}

}  // namespace
}  // namespace rankloom
