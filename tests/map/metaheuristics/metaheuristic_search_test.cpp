// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/metaheuristics/metaheuristic_search.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;

std::vector<Core> block(const OwnedProblem& problem) {
  return block_placement(problem.graph.rank_count(), problem.topology, problem.capacities);
}

std::vector<Core> search(const OwnedProblem& problem, std::uint64_t iterations, std::uint64_t seed = 0) {
  MapRun run;
  run.seed = seed;
  return metaheuristic_search(problem.view(), {block(problem)}, {.iterations = iterations}, run);
}

void expect_valid_and_not_worse(const OwnedProblem& problem, std::span<const Core> start) {
  MapRun run;
  const std::vector<Core> from(start.begin(), start.end());
  const auto result = metaheuristic_search(problem.view(), {from}, {.iterations = 20}, run);
  ASSERT_TRUE(Mapping::create(result, problem.topology, problem.capacities));
  ASSERT_LE(problem.cost(result), problem.cost(from));
}

TEST(MetaheuristicSearch, IsValidAndNeverCostsMoreThanItsStart) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto few = make_problem(testing::random_graph(7, 0.5, 3), machine, model.model);
      expect_valid_and_not_worse(few, testing::random_placement(7, machine, few.capacities, 1));
      const auto many = make_problem(testing::random_graph(40, 0.1, 3), machine, model.model,
                                     {.oversubscribe = true, .imbalance = 0.1});
      expect_valid_and_not_worse(many, testing::random_placement(40, machine, many.capacities, 1));
    }
  }
}

TEST(MetaheuristicSearch, SupportsProgramsWithoutTrafficOrRanks) {
  for (const std::uint32_t ranks : {0U, 1U, 2U, 16U}) {
    const auto problem = make_problem(CommGraphBuilder(ranks).build(false), testing::topology("node:4=10 core:4=1"));
    EXPECT_TRUE(Mapping::create(search(problem, 10), problem.topology, problem.capacities)) << ranks;
  }
}

TEST(MetaheuristicSearch, ReachesTheProvedOptimumOfSmallQapInstances) {
  const std::vector<std::pair<std::string, double>> optima{{"nug12", 578},      {"nug15", 1150},    {"chr12a", 9552},
                                                           {"esc16a", 68},      {"tai12a", 224416}, {"had20", 6922},
                                                           {"els19", 17212548}, {"bur26a", 5426670}};
  for (const auto& [name, optimum] : optima) {
    const auto problem = testing::qaplib(name);
    EXPECT_EQ(problem.cost(search(problem, 100'000)), optimum) << name;
  }
}

TEST(MetaheuristicSearch, ChoosesTheBestCoresOfALargerMachine) {
  // Two cliques of four fit on two of the five nodes, but the block placement cuts both.
  const auto problem = make_problem(testing::shuffled_groups(2, 4, 1), testing::topology("node:5=10 core:2+4+3+4+1=1"));
  EXPECT_EQ(problem.cost(search(problem, 2000)), 2 * 4 * 3 * 1000.0);
}

TEST(MetaheuristicSearch, IsTheSameForTheSameSeed) {
  const auto table = testing::qaplib("tai25a");
  EXPECT_EQ(search(table, 3000, 5), search(table, 3000, 5));
  const auto tree = make_problem(testing::shuffled_grid(12, 12, 1), testing::topology("node:9=10 core:16=1"));
  EXPECT_EQ(search(tree, 300, 5), search(tree, 300, 5));
}

TEST(MetaheuristicSearch, StartsFromTheBestStart) {
  const auto problem =
      make_problem(testing::shuffled_grid(8, 8, 1), testing::topology("node:4=10 core:16=1"), CostModel::congestion);
  const auto good = search(make_problem(problem.graph, problem.topology), 1000);
  const auto bad = testing::random_placement(64, problem.topology, problem.capacities, 1);
  MapRun run;
  EXPECT_EQ(metaheuristic_search(problem.view(), {bad, good}, {}, run), good);
}

TEST(MetaheuristicSearch, EndsAtItsDeadline) {
  for (const auto& problem :
       {testing::qaplib("tai40a"),
        make_problem(testing::shuffled_grid(32, 32, 1), testing::topology("node:32=100 package:8=10 core:4=1"))}) {
    MapRun run;
    run.deadline = Deadline::in(std::chrono::milliseconds(200));
    const testing::CpuTime time;
    const auto result = metaheuristic_search(problem.view(), {block(problem)}, {}, run);
    EXPECT_LT(time.seconds(), 1.5);
    EXPECT_LE(problem.cost(result), problem.cost(block(problem)));
  }
}

}  // namespace
}  // namespace rankloom
