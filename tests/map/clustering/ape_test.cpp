// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/clustering/ape.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

/// Clusters of up to `max_size` ranks. Each rank belongs to one cluster; several clusters have the same size.
Groups random_clusters(std::uint32_t ranks, std::uint32_t max_size, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::uint32_t> order(ranks);
  std::iota(order.begin(), order.end(), 0U);
  random.shuffle(std::span(order));
  Groups groups;
  for (std::uint32_t at = 0; at < ranks;) {
    const auto size = std::min(ranks - at, static_cast<std::uint32_t>(1 + random.below(max_size)));
    groups.members.insert(groups.members.end(), order.begin() + at, order.begin() + at + size);
    groups.close();
    at += size;
  }
  return groups;
}

/// Calls check(problem, clusters, placement) with random values for every machine and every cost model that is a sum
/// over pairs.
template <class Check>
void for_random_cases(const Check& check) {
  std::uint64_t seed = 0;
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (pairwise_model(model.model) != model.model) continue;
      for (const std::uint32_t ranks : {1U, 7U, 12U, 25U}) {
        SCOPED_TRACE(name + " " + std::string(model.name));
        const auto problem =
            make_problem(testing::random_graph(ranks, 0.4, ++seed), machine, model.model, {.oversubscribe = true});
        check(problem, random_clusters(ranks, 4, seed),
              testing::random_placement(ranks, machine, problem.capacities, seed));
      }
    }
  }
}

TEST(AqapCost, EqualsTheQapCostOfThePlacement) {
  for_random_cases([](const OwnedProblem& problem, const Groups& clusters, const std::vector<Core>& core_of) {
    const MapProblem view = problem.view();
    const double cost = problem.cost(core_of);
    EXPECT_NEAR(AqapCost(view, clusters).total(core_of), cost, 1e-12 * std::abs(cost));
  });
}

TEST(AqapCost, BetweenTwoClustersCountsBothDirections) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{2}, 5);
  builder.add(Rank{3}, Rank{1}, 7);
  builder.add(Rank{0}, Rank{1}, 11);
  const auto problem = make_problem(std::move(builder).build(false), topology("node:2=10 core:2=1"));
  Groups clusters{.members = {0, 1, 2, 3}, .ends = {0, 2, 4}};
  const MapProblem view = problem.view();
  const AqapCost cost(view, clusters);
  const auto block = block_placement(4, problem.topology, problem.capacities);
  EXPECT_EQ(cost.between(0, 1, block), (5 + 7) * 10);
  EXPECT_EQ(cost.between(1, 0, block), (5 + 7) * 10);
  EXPECT_EQ(cost.inside(0, block), 11);
  EXPECT_EQ(cost.inside(1, block), 0);
}

TEST(AqapCost, ExchangeDeltaIsTheDifferenceOfTheTotals) {
  std::size_t exchanges = 0;
  for_random_cases([&](const OwnedProblem& problem, const Groups& clusters, std::vector<Core> core_of) {
    const MapProblem view = problem.view();
    const AqapCost cost(view, clusters);
    const auto before = core_of;
    for (std::uint32_t a = 0; a < clusters.size(); ++a) {
      for (std::uint32_t b = 0; b < a; ++b) {
        if (clusters[a].size() != clusters[b].size()) continue;
        const double delta = cost.exchange_delta(a, b, core_of);
        ASSERT_EQ(core_of, before);
        auto after = core_of;
        for (std::size_t at = 0; at < clusters[a].size(); ++at)
          std::swap(after[clusters[a][at]], after[clusters[b][at]]);
        EXPECT_NEAR(delta, problem.cost(after) - problem.cost(before), 1e-9 * std::abs(problem.cost(before)));
        ++exchanges;
      }
    }
  });
  EXPECT_GT(exchanges, 1000U);
}

std::vector<Core> run_ape(const OwnedProblem& problem, const Groups& clusters, std::vector<Core> core_of,
                          ApeOptions options, std::uint64_t seed = 0) {
  StopCondition stop_condition{Deadline()};
  aggregated_pair_exchange(problem.view(), clusters, options, seed, stop_condition, core_of);
  return core_of;
}

TEST(Ape, NeverIncreasesTheCostUnderAnyModel) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem =
          make_problem(testing::random_graph(11, 0.4, 3), machine, model.model, {.oversubscribe = true});
      const Groups clusters = random_clusters(11, 3, 4);
      const auto start = testing::random_placement(11, machine, problem.capacities, 5);
      const auto end = run_ape(problem, clusters, start, {.tries = 200, .noise_threshold = 100});
      EXPECT_LE(problem.cost(end), problem.cost(start) + 1e-12 * std::abs(problem.cost(start)));
      EXPECT_TRUE(Mapping::create(end, machine, problem.capacities));
    }
  }
}

TEST(Ape, ExchangesOnlyNoiseClusters) {
  const auto problem = make_problem(testing::random_graph(12, 0.6, 1), topology("node:3=10 core:4=1"));
  const Groups clusters{.members = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, .ends = {0, 3, 6, 8, 10, 11, 12}};
  const auto start = testing::random_placement(12, problem.topology, problem.capacities, 2);
  const auto end = run_ape(problem, clusters, start, {.tries = 500, .noise_threshold = 3});
  EXPECT_NE(end, start);
  for (std::size_t rank = 0; rank < 6; ++rank) EXPECT_EQ(end[rank], start[rank]);
  EXPECT_EQ(run_ape(problem, clusters, start, {.tries = 500, .noise_threshold = 1}), start);
  EXPECT_EQ(run_ape(problem, clusters, start, {.tries = 0, .noise_threshold = 100}), start);
}

TEST(Ape, MovesCommunicatingClustersToTheSameNode) {
  // Each node holds two clusters; each cluster communicates only with one on the other node.
  CommGraphBuilder builder(8);
  for (const auto& [a, b] : {std::pair(0, 6), std::pair(1, 7), std::pair(3, 2), std::pair(4, 5)}) {
    builder.add(Rank{static_cast<std::uint32_t>(a)}, Rank{static_cast<std::uint32_t>(b)}, 10);
  }
  const auto problem = make_problem(std::move(builder).build(false), topology("node:2=10 core:4=1"));
  const Groups clusters{.members = {0, 1, 3, 4, 2, 5, 6, 7}, .ends = {0, 2, 4, 6, 8}};
  std::vector<Core> start(8);
  for (const auto& [rank, core] : {std::pair(0, 0), {1, 1}, {2, 2}, {5, 3}, {3, 4}, {4, 5}, {6, 6}, {7, 7}}) {
    start[static_cast<std::size_t>(rank)] = Core{static_cast<std::uint32_t>(core)};
  }
  ASSERT_EQ(problem.cost(start), 4 * 100);
  EXPECT_EQ(problem.cost(run_ape(problem, clusters, start, {.tries = 50, .noise_threshold = 3})), 4 * 10);
}

}  // namespace
}  // namespace rankloom
