// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/cost/incremental_cost.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::every_machine;
using testing::random_graph;
using testing::random_placement;
using testing::topology;

/// Applies random moves and exchanges, and compares every delta and every cost with a full evaluation.
void expect_equal_to_full_evaluation(const CommGraph& graph, const Topology& machine, const Capacities& capacities,
                                     CostModel model, std::uint64_t seed) {
  const auto start = random_placement(graph.rank_count(), machine, capacities, seed);
  const auto cost = make_incremental_cost(graph, machine, model, start);
  const auto full = [&](const std::vector<Core>& placement) {
    if (model == CostModel::predicted) return make_incremental_cost(graph, machine, model, placement)->cost();
    return objective(model, evaluate(graph, machine, placement, model));
  };
  // The sums of powers that `predicted` consists of lose digits when they become smaller.
  const double scale = model == CostModel::predicted ? 1e-7 * full(start) : 1e-9 * (1 + std::abs(full(start)));
  ASSERT_NEAR(cost->cost(), full(start), scale);
  Random random(seed, 99);
  for (int step = 0; step < 40; ++step) {
    const Rank a{static_cast<std::uint32_t>(random.below(graph.rank_count()))};
    const Rank b{static_cast<std::uint32_t>(random.below(graph.rank_count()))};
    const Core to{static_cast<std::uint32_t>(random.below(machine.core_count()))};
    const bool exchange = random.below(2) == 0;
    auto after = cost->placement();
    if (exchange) {
      std::swap(after[index(a)], after[index(b)]);
    } else {
      after[index(a)] = to;
    }
    const double before = cost->cost();
    const auto unchanged = cost->placement();
    const double delta = exchange ? cost->exchange_delta(a, b) : cost->move_delta(a, to);
    ASSERT_NEAR(delta, full(after) - full(unchanged), scale) << (exchange ? "exchange" : "move");
    ASSERT_EQ(cost->placement(), unchanged) << "a delta must not move anything";
    ASSERT_EQ(cost->cost(), before);
    if (random.below(4) == 0) continue;
    if (exchange) {
      cost->exchange(a, b);
    } else {
      cost->move(a, to);
    }
    ASSERT_EQ(cost->placement(), after);
    ASSERT_NEAR(cost->cost(), full(after), scale);
  }
}

class IncrementalCostTest : public ::testing::TestWithParam<CostModelInfo> {};

TEST_P(IncrementalCostTest, EqualsFullEvaluationOnEveryKindOfMachine) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const std::uint32_t ranks = seed % 2 == 0 ? 8 : 11;
      const auto capacities = Capacities::of(machine, ranks, {.oversubscribe = true});
      const auto graph = random_graph(ranks, seed < 3 ? 0.2 : 0.8, seed, seed % 3 == 2);
      expect_equal_to_full_evaluation(graph, machine, *capacities, GetParam().model, seed);
    }
  }
}

TEST_P(IncrementalCostTest, EqualsFullEvaluationOnAsymmetricTables) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto machine = testing::random_table(12, seed);
    const auto capacities = Capacities::of(machine, 10, {});
    expect_equal_to_full_evaluation(random_graph(10, 0.6, seed), machine, *capacities, GetParam().model, seed);
  }
}

TEST_P(IncrementalCostTest, NeighboursIncludeBothDirections) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 1);
  builder.add(Rank{2}, Rank{0}, 1);
  builder.add(Rank{0}, Rank{0}, 1);
  const auto graph = std::move(builder).build(true);
  const auto machine = topology("node:2 core:2");
  const auto cost = make_incremental_cost(graph, machine, GetParam().model,
                                          block_placement(4, machine, *Capacities::of(machine, 4, {})));
  const auto near = cost->neighbours(Rank{0});
  EXPECT_EQ(std::vector<Rank>(near.begin(), near.end()), (std::vector<Rank>{Rank{1}, Rank{2}}));
}

TEST(PredictedCost, IsAboveThePredictedTimeAndCloseToIt) {
  for (const char* text : {"node:4=10,1us core:4=1,100ns width:bus=3", "torus:4x4=2,1us core:1"}) {
    const auto machine = topology(text);
    const auto capacities = Capacities::of(machine, 16, {});
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const auto graph = random_graph(16, 0.3, seed);
      const auto placement = random_placement(16, machine, *capacities, seed);
      const double smooth = make_incremental_cost(graph, machine, CostModel::predicted, placement)->cost();
      const double seconds = evaluate(graph, machine, placement, CostModel::predicted);
      EXPECT_GE(smooth, seconds * (1 - 1e-12)) << text;
      EXPECT_LE(smooth, seconds * 2) << text;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryModel, IncrementalCostTest,
                         ::testing::ValuesIn(cost_models().begin(), cost_models().end()),
                         [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace rankloom
