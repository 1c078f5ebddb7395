// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/local_search/migration_cost.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

OwnedProblem with_random_start(OwnedProblem problem, std::uint64_t seed) {
  problem.start = testing::random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, seed);
  return problem;
}

std::vector<Core> run(const OwnedProblem& problem, std::string_view spec, double migration_cost) {
  MapProblem view = problem.view();
  view.migration_cost = migration_cost;
  const auto result = run_mapper(testing::mapper(spec), view, MapRun{});
  EXPECT_TRUE(result);
  EXPECT_EQ(result->moved, moved_ranks(problem.start, result->mapping.cores()));
  return {result->mapping.cores().begin(), result->mapping.cores().end()};
}

TEST(MigrationCost, OfZeroDoesNotChangeTheResult) {
  const auto problem =
      with_random_start(make_problem(testing::shuffled_grid(6, 8, 1), topology("node:6=10 core:8=1")), 1);
  for (const char* const spec : {"greedy", "refine", "auto"}) {
    EXPECT_EQ(run(problem, spec, 0), testing::place_with(spec, problem).core_of) << spec;
  }
}

TEST(MigrationCost, AboveEveryGainKeepsTheStart) {
  const auto problem =
      with_random_start(make_problem(testing::shuffled_grid(6, 8, 1), topology("node:6=10 core:8=1")), 1);
  for (const char* const spec : {"greedy", "refine", "auto"}) EXPECT_EQ(run(problem, spec, 1e9), problem.start) << spec;
}

TEST(MigrationCost, NeverGivesAHigherTotalThanTheStartOrTheUnrestrictedResult) {
  std::vector<OwnedProblem> problems;
  for (const auto& [name, machine] : testing::every_machine()) {
    const std::uint32_t ranks = machine.core_count() - 2;
    problems.push_back(with_random_start(make_problem(testing::random_graph(ranks, 0.2, 3), machine, CostModel::bytes,
                                                      {.oversubscribe = true, .imbalance = 0}),
                                         4));
  }
  problems.push_back(with_random_start(make_problem(testing::shuffled_grid(8, 8, 2), topology("node:2=9 core:16=1"),
                                                    CostModel::time, {.oversubscribe = true, .imbalance = 0.5}),
                                       5));
  for (const OwnedProblem& problem : problems) {
    const auto unrestricted = run(problem, "greedy", 0);
    const double cost_per_rank = std::abs(problem.cost(problem.start)) / problem.graph.rank_count();
    std::uint64_t fewest_moved = moved_ranks(problem.start, unrestricted);
    for (const double part : {0.01, 0.1, 0.3, 1.0}) {
      MapProblem view = problem.view();
      view.migration_cost = part * cost_per_rank;
      const auto core_of = run(problem, "greedy", view.migration_cost);
      const double cost = cost_with_migration(view, core_of);
      EXPECT_LE(cost, cost_with_migration(view, problem.start) * (1 + 1e-12));
      EXPECT_LE(cost, cost_with_migration(view, unrestricted) * (1 + 1e-12));
      fewest_moved = std::min(fewest_moved, moved_ranks(problem.start, core_of));
    }
    EXPECT_LE(fewest_moved, moved_ranks(problem.start, unrestricted));
  }
}

TEST(PermuteTowardsStart, FindsTheStartInAPermutationOfSymmetricObjects) {
  // The same placement with permuted switches, nodes and cores.
  auto problem = make_problem(testing::shuffled_groups(8, 4, 3), topology("switch:2=9 node:4=3 core:4=1"));
  problem.start = testing::place_with("auto", problem).core_of;
  std::vector<Core> other;
  for (const Core core : problem.start) {
    const std::uint32_t at = index(core);
    other.push_back(Core{(at + 16) % 32 / 16 * 16 + (at / 4 * 3 + 1) % 4 * 4 + 3 - at % 4});
  }
  ASSERT_EQ(moved_ranks(problem.start, other), 32);
  ASSERT_EQ(problem.cost(other), problem.cost(problem.start));
  EXPECT_EQ(permute_towards_start(problem.view(), other), problem.start);
}

TEST(PermuteTowardsStart, NeverChangesTheCost) {
  for (const auto& [name, machine] : testing::every_machine()) {
    const auto problem =
        with_random_start(make_problem(testing::random_graph(machine.core_count() / 2, 0.3, 3), machine,
                                       CostModel::time, {.oversubscribe = true, .imbalance = 0}),
                          8);
    const auto placed = testing::random_placement(problem.graph.rank_count(), machine, problem.capacities, 9);
    const auto permuted = permute_towards_start(problem.view(), placed);
    EXPECT_TRUE(Mapping::create(permuted, problem.topology, problem.capacities)) << name;
    EXPECT_NEAR(problem.cost(permuted), problem.cost(placed), 1e-9 * problem.cost(placed)) << name;
  }
}

TEST(MigrationCost, UndoesOnlyTheExchangeWhoseGainIsTooSmall) {
  // Two pairs are on different nodes. Placing the heavy pair on one node gains 900, the light pair 9; each takes two
  // moves.
  CommGraphBuilder builder(8);
  builder.add(Rank{0}, Rank{2}, 100);
  builder.add(Rank{4}, Rank{6}, 1);
  auto problem = make_problem(std::move(builder).build(false), topology("node:4=10 core:2=1"));
  for (std::uint32_t rank = 0; rank < 8; ++rank) problem.start.push_back(Core{rank});
  EXPECT_EQ(moved_ranks(problem.start, run(problem, "greedy", 1)), 4);
  const auto heavy_pair_moved = run(problem, "greedy", 20);
  EXPECT_EQ(moved_ranks(problem.start, heavy_pair_moved), 2);
  EXPECT_EQ(problem.cost(heavy_pair_moved), 100 + 10);
}

}  // namespace
}  // namespace rankloom
