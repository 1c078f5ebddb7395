// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/deep_search/deep_search.hpp"

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

std::vector<Core> searched(const OwnedProblem& problem, std::uint64_t steps, std::uint64_t seed = 0) {
  MapRun run;
  run.seed = seed;
  return deep_search(problem.view(), {block(problem)}, {.steps = steps}, run);
}

void expect_valid_and_no_worse(const OwnedProblem& problem, std::span<const Core> start) {
  MapRun run;
  const std::vector<Core> from(start.begin(), start.end());
  const auto found = deep_search(problem.view(), {from}, {.steps = 20}, run);
  ASSERT_TRUE(Mapping::checked(found, problem.topology, problem.capacities));
  ASSERT_LE(problem.cost(found), problem.cost(from));
}

TEST(DeepSearch, IsValidAndNeverWorseThanItsStartOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto few = make_problem(testing::random_graph(7, 0.5, 3), machine, model.model);
      expect_valid_and_no_worse(few, testing::random_placement(7, machine, few.capacities, 1));
      const auto many = make_problem(testing::random_graph(40, 0.1, 3), machine, model.model,
                                     {.oversubscribe = true, .imbalance = 0.1});
      expect_valid_and_no_worse(many, testing::random_placement(40, machine, many.capacities, 1));
    }
  }
}

TEST(DeepSearch, TakesProgramsWithoutTrafficOrRanks) {
  for (const std::uint32_t ranks : {0U, 1U, 2U, 16U}) {
    const auto problem = make_problem(CommGraphBuilder(ranks).build(false), testing::topology("node:4=10 core:4=1"));
    EXPECT_TRUE(Mapping::checked(searched(problem, 10), problem.topology, problem.capacities)) << ranks;
  }
}

TEST(DeepSearch, ReachesTheProvedOptimumOfSmallAssignmentProblems) {
  const std::vector<std::pair<std::string, double>> optima{{"nug12", 578},      {"nug15", 1150},    {"chr12a", 9552},
                                                           {"esc16a", 68},      {"tai12a", 224416}, {"had20", 6922},
                                                           {"els19", 17212548}, {"bur26a", 5426670}};
  for (const auto& [name, optimum] : optima) {
    const auto problem = testing::qaplib(name);
    EXPECT_EQ(problem.cost(searched(problem, 100'000)), optimum) << name;
  }
}

TEST(DeepSearch, FindsWhichCoresOfALargerMachineToTake) {
  // Two cliques of four fit on two nodes of the five, but block cuts both.
  const auto problem = make_problem(testing::shuffled_groups(2, 4, 1), testing::topology("node:5=10 core:2+4+3+4+1=1"));
  EXPECT_EQ(problem.cost(searched(problem, 2000)), 2 * 4 * 3 * 1000.0);
}

TEST(DeepSearch, GivesTheSameForTheSameSeed) {
  const auto table = testing::qaplib("tai25a");
  EXPECT_EQ(searched(table, 3000, 5), searched(table, 3000, 5));
  const auto tree = make_problem(testing::shuffled_grid(12, 12, 1), testing::topology("node:9=10 core:16=1"));
  EXPECT_EQ(searched(tree, 300, 5), searched(tree, 300, 5));
}

TEST(DeepSearch, BeginsWithTheBestStart) {
  const auto problem =
      make_problem(testing::shuffled_grid(8, 8, 1), testing::topology("node:4=10 core:16=1"), CostModel::congestion);
  const auto good = searched(make_problem(problem.graph, problem.topology), 1000);
  const auto bad = testing::random_placement(64, problem.topology, problem.capacities, 1);
  MapRun run;
  EXPECT_EQ(deep_search(problem.view(), {bad, good}, {}, run), good);
}

TEST(DeepSearch, EndsAtItsDeadline) {
  for (const auto& problem :
       {testing::qaplib("tai40a"),
        make_problem(testing::shuffled_grid(32, 32, 1), testing::topology("node:32=100 package:8=10 core:4=1"))}) {
    MapRun run;
    run.deadline = Deadline::in(std::chrono::milliseconds(200));
    const auto begin = std::chrono::steady_clock::now();
    const auto found = deep_search(problem.view(), {block(problem)}, {}, run);
    const auto took = std::chrono::steady_clock::now() - begin;
    EXPECT_LT(took, std::chrono::milliseconds(1500));  // a busy machine may pause us
    EXPECT_LT(problem.cost(found), 0.9 * problem.cost(block(problem)));
  }
}

}  // namespace
}  // namespace rankloom
