// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/metaheuristics/tabu_search.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

/// The deltas that a search keeps agree with a complete evaluation, also after many iterations.
template <class Number>
void expect_correct_deltas(const testing::OwnedProblem& problem) {
  const QapInstance instance(problem.view());
  TabuSearch<Number> tabu(instance);
  Random random(1);
  StopCondition stop_condition{Deadline()};
  const auto start = testing::random_placement(problem.graph.rank_count(), problem.topology, problem.capacities, 2);
  tabu.begin(instance.locations().assignment_of(start));
  for (int round = 0; round < 4; ++round) {
    tabu.run(25, 25, random, stop_condition);
    std::vector<std::uint32_t> facility_at(tabu.current().begin(), tabu.current().end());
    const double cost = instance.cost(facility_at);
    const double tolerance = 1e-9 * (1 + std::abs(cost));
    ASSERT_NEAR(tabu.current_cost(), cost, tolerance);
    ASSERT_LE(tabu.best_cost(), cost + tolerance);
    ASSERT_NEAR(instance.cost(tabu.best()), tabu.best_cost(), tolerance);
    ASSERT_NEAR(problem.cost(instance.locations().placement_of(facility_at)), cost, tolerance);
    for (std::uint32_t location = 0; location < instance.size(); ++location) {
      for (std::uint32_t other = location + 1; other < instance.size(); ++other) {
        std::swap(facility_at[location], facility_at[other]);
        ASSERT_NEAR(tabu.delta(location, other), instance.cost(facility_at) - cost, tolerance)
            << location << " with " << other;
        std::swap(facility_at[location], facility_at[other]);
      }
    }
  }
}

TEST(TabuSearch, HasTheCorrectDeltaOfEverySwapOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (pairwise_model(model.model) != model.model) continue;
      SCOPED_TRACE(name + " " + std::string(model.name));
      expect_correct_deltas<double>(testing::make_problem(testing::random_graph(9, 0.5, 1), machine, model.model));
    }
  }
}

TEST(TabuSearch, IsExactForIntegers) {
  for (const std::string name : {"nug12", "bur26a", "chr25a", "lipa40a"}) {
    SCOPED_TRACE(name);
    const auto problem = testing::qaplib(name);
    const QapInstance instance(problem.view());
    ASSERT_TRUE(instance.integral());
    ASSERT_LT(instance.max_delta(), 0x1p31);
    expect_correct_deltas<std::int32_t>(problem);
    expect_correct_deltas<double>(problem);
  }
}

TEST(TabuSearch, EndsImmediatelyIfNoSwapChangesTheCost) {
  const auto problem = testing::make_problem(testing::random_graph(6, 0.5, 1), testing::topology("core:6=1"));
  const QapInstance instance(problem.view());
  TabuSearch<std::int32_t> tabu(instance);
  Random random(1);
  StopCondition stop_condition{Deadline()};
  tabu.begin(instance.locations().assignment_of(block_placement(6, problem.topology, problem.capacities)));
  EXPECT_EQ(tabu.run(1'000'000'000'000, 1'000'000'000'000, random, stop_condition), 1'000'000'000'000U);
}

}  // namespace
}  // namespace rankloom
