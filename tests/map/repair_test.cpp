// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/repair.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::directed_graph;
using testing::make_problem;
using testing::random_graph;
using testing::topology;

std::vector<Core> cores_of(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Core> list;
  for (const std::uint32_t number : numbers) list.push_back(Core{number});
  return list;
}

std::vector<Core> repair(const testing::OwnedProblem& problem, std::vector<Core> core_of) {
  return repair_placement(problem.view(), Affinity(problem.graph), std::move(core_of));
}

TEST(Repair, DoesNotChangeAValidPlacement) {
  const auto problem = make_problem(random_graph(9, 0.5, 1), topology("node:3=10 core:4=1"));
  const auto start = testing::random_placement(9, problem.topology, problem.capacities, 2);
  EXPECT_EQ(repair(problem, start), start);
}

TEST(Repair, MovesTheRankWithTheSmallestLossToTheClosestFreeCore) {
  // Ranks 0, 1 and 2 are on core 0; 0 and 1 have the most traffic. Core 1 and all cores of the second node are free.
  const auto problem =
      make_problem(directed_graph(3, {{0, 1, 100}, {1, 2, 5}, {0, 2, 1}}), topology("node:2=10 core:2*2+2*2=1"));
  EXPECT_EQ(repair(problem, cores_of({0, 0, 0})), cores_of({0, 0, 1}));
}

TEST(Repair, MovesToAnotherNodeOnlyIfTheNodeIsFullAndThenToItsPartners) {
  // The first node is full; rank 4 must leave it and communicates with rank 5 on the third.
  const auto problem = make_problem(directed_graph(6, {{0, 1, 9}, {2, 3, 9}, {0, 4, 1}, {4, 5, 3}, {1, 2, 9}}),
                                    topology("node:3=10 core:4=1"));
  EXPECT_EQ(repair(problem, cores_of({0, 1, 2, 3, 3, 8})), cores_of({0, 1, 2, 3, 9, 8}));
}

TEST(Repair, MovesToTheClosestNodeOfANetwork) {
  const auto problem = make_problem(directed_graph(3, {{0, 1, 9}, {1, 2, 1}}), topology("mesh:8=1 core:1"));
  EXPECT_EQ(repair(problem, cores_of({3, 4, 4})), cores_of({3, 4, 5}));
}

TEST(Repair, MovesOnlyTheExcessRanks) {
  for (const auto& [name, machine] : testing::every_machine()) {
    SCOPED_TRACE(name);
    std::uint32_t slots = 0;
    for (const Core core : machine.cores()) slots += machine.capacity(core);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const auto problem = make_problem(random_graph(slots, 0.3, seed), machine);
      Random random(seed);
      std::vector<Core> start(slots);
      std::vector<std::uint32_t> taken(machine.core_count(), 0);
      std::uint32_t excess = 0;
      for (Core& core : start) {
        core = Core{static_cast<std::uint32_t>(random.below(machine.core_count()))};
        if (++taken[index(core)] > problem.capacities[core]) ++excess;
      }
      const auto valid = repair(problem, start);
      EXPECT_TRUE(Mapping::create(valid, machine, problem.capacities));
      std::uint32_t moved = 0;
      for (std::uint32_t rank = 0; rank < slots; ++rank) moved += valid[rank] != start[rank] ? 1 : 0;
      EXPECT_EQ(moved, excess);
    }
  }
}

TEST(Repair, IsFastIfAllRanksAreOnOneCore) {
  const std::uint32_t ranks = 60 * 60;
  const auto problem = make_problem(testing::shuffled_grid(60, 60, 3), topology("torus:60x60=1 core:1"));
  const auto valid = repair(problem, std::vector<Core>(ranks, Core{17}));
  EXPECT_TRUE(Mapping::create(valid, problem.topology, problem.capacities));
}

}  // namespace
}  // namespace rankloom
