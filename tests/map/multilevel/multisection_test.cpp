// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/multisection.hpp"

#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/multilevel/traffic_graph.hpp"
#include "tests/map/map_support.hpp"
#include "tests/map/multilevel/small_graphs.hpp"

namespace rankloom::multilevel {
namespace {

using rankloom::testing::make_problem;
using rankloom::testing::OwnedProblem;
using rankloom::testing::topology;

std::vector<Core> partition(const OwnedProblem& problem, bool pack = true, std::uint64_t seed = 1) {
  const MachineTree tree(problem.topology, problem.capacities);
  MultisectionOptions options;
  options.pack = pack;
  const auto core_of =
      multisection(weighted_graph(problem.view()), tree, make_distance(problem.topology, problem.model), options, seed);
  return {core_of.begin(), core_of.end()};
}

void expect_valid(const OwnedProblem& problem) {
  for (const bool pack : {true, false}) {
    const auto checked = Mapping::create(partition(problem, pack), problem.topology, problem.capacities);
    EXPECT_TRUE(checked) << (checked ? "" : to_string(checked.error()));
  }
}

std::uint32_t slots_of(const Topology& machine) {
  std::uint32_t slots = 0;
  for (const Core core : machine.cores()) slots += machine.capacity(core);
  return slots;
}

TEST(Multisection, IsValidOnEveryMachineWithAndWithoutFreeSlots) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    const std::uint32_t slots = slots_of(machine);
    for (const std::uint32_t ranks : {slots, slots - 1, slots * 2 / 3, 2U, 1U, 0U}) {
      SCOPED_TRACE(name + " with " + std::to_string(ranks));
      expect_valid(make_problem(rankloom::testing::random_graph(ranks, 0.3, ranks), machine));
    }
  }
}

TEST(Multisection, IsValidWithSeveralRanksPerCore) {
  for (const auto& [name, machine] : rankloom::testing::every_machine()) {
    for (const double imbalance : {0.0, 0.03, 0.3}) {
      SCOPED_TRACE(name + " " + std::to_string(imbalance));
      expect_valid(make_problem(rankloom::testing::random_graph(403, 0.01, 1), machine, CostModel::bytes,
                                {.oversubscribe = true, .imbalance = imbalance}));
    }
  }
}

TEST(Multisection, IsValidOnLargerMachines) {
  const auto grid = rankloom::testing::shuffled_grid(40, 25, 1);
  for (const char* machine : {"switch:5=20 node:10=10 core:20=1", "node:7=10 core:100+200+50+250+180+120+100=1",
                              "torus:5x10x5=4 core:4=1", "mesh:25x10=4 core:4=1", "dragonfly:5,5,5=3 core:8=1"}) {
    SCOPED_TRACE(machine);
    expect_valid(make_problem(grid, topology(machine)));
  }
}

TEST(Multisection, PlacesAShuffledGridFarBelowTheCostOfBlock) {
  const auto problem =
      make_problem(rankloom::testing::shuffled_grid(32, 32, 1), topology("node:32=100 package:8=10 core:4=1"));
  const double block = problem.cost(block_placement(1024, problem.topology, problem.capacities));
  EXPECT_LT(problem.cost(partition(problem)), 0.3 * block);
}

TEST(Multisection, CoresAtOneDistanceTakeRanksInTheirOrder) {
  for (const char* machine : {"core:12", "node:3 core:4", "torus:2x2 core:4"}) {
    const auto problem = make_problem(rankloom::testing::random_graph(12, 0.3, 1), topology(machine));
    const auto core_of = partition(problem);
    std::map<Node, Core> last_on_node;
    for (const Core core : core_of) {
      const auto [last, is_first] = last_on_node.try_emplace(problem.topology.node_of(core), core);
      EXPECT_TRUE(is_first || std::exchange(last->second, core) < core) << machine;
    }
  }
}

TEST(Multisection, IsTheSameForAnyNumberOfThreads) {
  const auto full =
      make_problem(rankloom::testing::shuffled_grid(48, 48, 1), topology("switch:4=20 node:24=10 core:24=1"));
  const auto shared = make_problem(rankloom::testing::shuffled_grid(48, 48, 1), topology("torus:4x4=5 core:8=1"),
                                   CostModel::bytes, {.oversubscribe = true, .imbalance = 0.03});
  for (const OwnedProblem* const problem : {&full, &shared}) {
    std::vector<std::vector<Core>> results;
    for (const std::size_t threads : {1, 2, 2}) {
      const ThreadLimit limit(threads);
      results.push_back(partition(*problem));
    }
    EXPECT_EQ(results[0], results[1]);
    EXPECT_EQ(results[1], results[2]);
  }
}

}  // namespace
}  // namespace rankloom::multilevel
