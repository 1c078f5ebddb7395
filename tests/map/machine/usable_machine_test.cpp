// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/machine/usable_machine.hpp"

#include <set>

#include <gtest/gtest.h>

#include "rankloom/map/run.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::topology;

TEST(UsableMachine, KeepsTheDistancesBetweenItsLeaves) {
  for (const char* const machine : {"node:2=10 package:2=5 core:3=2 pu:2=1", "node:2 package:2 core:3 pu:2",
                                    "torus:2x2=7,1us core:2=1 pu:2=0.5", "fattree:2,2=3 core:4=1 pu:4=0.1"}) {
    const auto problem = make_problem(testing::random_graph(6, 0.5, 1), topology(machine));
    const auto usable = usable_machine(problem.view());
    ASSERT_TRUE(usable) << machine;
    EXPECT_EQ(usable->topology.core_count(), problem.capacities.total());
    for (const Core p : usable->topology.cores()) {
      for (const Core q : usable->topology.cores()) {
        const Core a = usable->original[index(p)], b = usable->original[index(q)];
        EXPECT_EQ(usable->topology.cost(p, q), problem.topology.cost(a, b)) << machine;
        EXPECT_EQ(usable->topology.hops(p, q), problem.topology.hops(a, b)) << machine;
      }
    }
  }
}

TEST(UsableMachine, KeepsAllNodesOfANetwork) {
  auto problem = make_problem(testing::random_graph(3, 0.5, 1), topology("torus:2x2=7 numa:2=2 core:2=1"));
  IdVector<Core, std::uint32_t> slots(16, 0);
  for (const Core core : {Core{1}, Core{9}, Core{14}}) slots[core] = 1;
  problem.capacities = Capacities::of_slots(slots);
  const auto usable = usable_machine(problem.view());
  ASSERT_TRUE(usable);
  EXPECT_EQ(usable->original, (std::vector<Core>{Core{1}, Core{4}, Core{9}, Core{14}}));
  EXPECT_EQ(usable->capacities[Core{1}], 0U) << "a node without slots";
  EXPECT_EQ(usable->topology.cost(Core{0}, Core{3}), problem.topology.cost(Core{1}, Core{14}));
  for (const MapperInfo& row : mappers()) {
    SCOPED_TRACE(row.name);
    const auto result = run_mapper(*make_mapper(row.name), problem.view(), MapRun{});
    if (!result) continue;  // a mapper that this build does not have
    for (const Core core : result->mapping.cores()) EXPECT_EQ(slots[core], 1U);
  }
}

TEST(UsableMachine, IsNotNeededIfAllLeavesAreUsed) {
  EXPECT_FALSE(usable_machine(make_problem(testing::random_graph(4, 0.5, 1), topology("node:2 core:2")).view()));
  EXPECT_FALSE(usable_machine(make_problem(testing::random_graph(8, 0.5, 1), topology("core:4 pu:2")).view()));
}

TEST(UsableMachine, EveryMapperUsesOneHardwareThreadPerCoreAsLongAsCoresSuffice) {
  const auto problem = make_problem(testing::random_graph(8, 0.4, 2), topology("package:4=4 core:2=2 pu:2=1"));
  for (const MapperInfo& row : mappers()) {
    SCOPED_TRACE(row.name);
    auto made = make_mapper(row.name);
    ASSERT_TRUE(made);
    const auto result = run_mapper(*made, problem.view(), MapRun{});
    if (!result) continue;  // a mapper that this build does not have
    std::set<std::uint32_t> cores;
    for (const Core leaf : result->mapping.cores()) cores.insert(index(leaf) / 2);
    EXPECT_EQ(cores.size(), 8U);
    EXPECT_DOUBLE_EQ(result->cost, problem.cost(result->mapping.cores()));
  }
}

TEST(UsableMachine, RanksOfSeveralCoresAreMappedAsOnAMachineOfSlots) {
  const auto graph = testing::shuffled_grid(4, 4, 1);
  const auto wide =
      make_problem(graph, topology("node:4=10 numa:2=5 core:8=1"), CostModel::bytes, {.shapes = SlotShape{.cores = 4}});
  const auto slots = make_problem(graph, topology("node:4=10 numa:2=5 core:2=1"));
  const auto mapper = *make_mapper("auto");
  const auto on_cores = run_mapper(mapper, wide.view(), MapRun{});
  const auto on_slots = run_mapper(mapper, slots.view(), MapRun{});
  ASSERT_TRUE(on_cores && on_slots);
  EXPECT_EQ(on_cores->cost, on_slots->cost);
  EXPECT_EQ(on_cores->cost_default, on_slots->cost_default);
  for (const Core leaf : on_cores->mapping.cores()) EXPECT_EQ(index(leaf) % 4, 0U);
}

}  // namespace
}  // namespace rankloom
