// SPDX-License-Identifier: Apache-2.0
// Properties of every mapper. The tests iterate over the table of mappers, so a new row is tested automatically.
#include <algorithm>
#include <chrono>
#include <cmath>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::CpuTime;
using testing::every_machine;
using testing::make_problem;
using testing::OwnedProblem;
using testing::random_graph;
using testing::topology;

/// A mapper of the table with one of its efforts.
struct Row {
  MapperInfo info;
  std::string effort;  ///< Empty: the mapper has no such option.

  std::string spec() const { return std::string(info.name) + (effort.empty() ? "" : ":effort=" + effort); }
};

/// The mapper with options that reduce its work; the properties do not depend on them.
ConfiguredMapper reduced(const Row& row) {
  auto configured = testing::mapper(row.spec());
  OptionList options;
  configured.mapper->describe(options);
  const std::vector<std::pair<std::string, std::string>> reductions{
      {"tries", "2000"}, {"restarts", "2"}, {"kicks", "2"}, {"nodes", "20000"}};
  for (const auto& [name, value] : reductions) {
    if (options.find(name) != nullptr) {
      EXPECT_TRUE(options.set(name, value, row.info.name));
    }
  }
  return configured;
}

class EveryMapper : public ::testing::TestWithParam<Row> {
 protected:
  /// The result without fallback; nothing if the mapper rejects the problem, which needs a hint.
  std::optional<MapResult> run(const OwnedProblem& problem, std::uint64_t seed = 0) {
    MapRun run_parameters;
    run_parameters.seed = seed;
    const auto configured = reduced(GetParam());
    auto result = run_mapper(configured, problem.view(), run_parameters, {.keep_worse = true});
    if (result) {
      EXPECT_EQ(result->mapping.rank_count(), problem.graph.rank_count());
      return *std::move(result);
    }
    EXPECT_EQ(result.error().code, Code::infeasible) << to_string(result.error());
    EXPECT_FALSE(result.error().hint.empty());
    return std::nullopt;
  }
};

/// run_mapper validates the placement; this is an independent check.
void expect_valid(const OwnedProblem& problem, const MapResult& result) {
  std::vector<std::uint32_t> taken(problem.topology.core_count(), 0);
  for (const Core core : result.mapping.cores()) {
    ASSERT_LT(index(core), problem.topology.core_count());
    ASSERT_LE(++taken[index(core)], problem.capacities[core]);
  }
  ASSERT_DOUBLE_EQ(objective(problem.model, result.cost), problem.cost(result.mapping.cores()));
}

TEST_P(EveryMapper, GivesAValidMappingOnEveryMachineUnderEveryModel) {
  for (const auto& [name, machine] : every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      const auto problem = make_problem(random_graph(6, 0.5, 3), machine, model.model);
      if (const auto result = run(problem)) expect_valid(problem, *result);
    }
  }
}

TEST_P(EveryMapper, GivesAValidMappingWhenTheMachineIsFull) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    std::uint32_t slots = 0;
    for (const Core core : machine.cores()) slots += machine.capacity(core);
    const auto problem = make_problem(random_graph(slots, 0.2, 4), machine);
    if (const auto result = run(problem)) expect_valid(problem, *result);
  }
}

TEST_P(EveryMapper, SharesCoresWhenAllowed) {
  for (const char* machine : {"node:2=10 core:3=1", "torus:2x2=3 core:1", "core:1", "node:2=9 core:1+2=1 !core:2"}) {
    for (const double imbalance : {0.0, 0.5}) {
      for (const CostModelInfo& model : cost_models()) {
        SCOPED_TRACE(std::string(machine) + " " + std::string(model.name));
        const auto problem = make_problem(random_graph(7, 0.4, 5), topology(machine), model.model,
                                          {.oversubscribe = true, .imbalance = imbalance});
        if (const auto result = run(problem)) expect_valid(problem, *result);
      }
    }
  }
}

TEST_P(EveryMapper, SupportsEmptyAndDegenerateProblems) {
  const auto without_traffic = [](std::uint32_t ranks) { return std::move(CommGraphBuilder(ranks)).build(true); };
  CommGraphBuilder mostly_isolated(5);
  mostly_isolated.add(Rank{1}, Rank{3}, 100);
  mostly_isolated.add(Rank{2}, Rank{2}, 7);
  mostly_isolated.add(Rank{3}, Rank{1}, 0, 2);
  const CommGraph sparse = std::move(mostly_isolated).build(true);
  for (const CostModelInfo& model : cost_models()) {
    SCOPED_TRACE(model.name);
    for (const auto& problem :
         {make_problem(without_traffic(0), topology("core:2"), model.model),
          make_problem(without_traffic(1), topology("core:1"), model.model),
          make_problem(without_traffic(1), topology("node:2 core:2"), model.model),
          make_problem(without_traffic(4), topology("node:2 core:2"), model.model),
          make_problem(random_graph(2, 1.0, 1), topology("core:2"), model.model),
          make_problem(sparse, topology("node:3=10 core:2=1"), model.model),
          make_problem(random_graph(3, 1.0, 1), topology("core:1"), model.model, {.oversubscribe = true})}) {
      if (const auto result = run(problem)) expect_valid(problem, *result);
    }
  }
}

TEST_P(EveryMapper, IsTheSameForTheSameSeedAndAnyNumberOfThreads) {
  for (const char* machine : {"node:3=10 core:4=1", "torus:3x4=5 core:1"}) {
    for (const std::uint32_t ranks : {6, 12}) {
      const auto problem = make_problem(random_graph(ranks, 0.5, 6), topology(machine));
      std::vector<std::optional<MapResult>> results;
      for (const std::size_t threads : {1, 2, 2}) {
        const ThreadLimit limit(threads);
        results.push_back(run(problem, 11));
      }
      ASSERT_EQ(results[0].has_value(), results[1].has_value());
      if (!results[0]) continue;
      EXPECT_EQ(results[0]->mapping, results[1]->mapping);
      EXPECT_EQ(results[1]->mapping, results[2]->mapping);
    }
  }
}

class EveryMapperWithAStart : public EveryMapper {};

TEST_P(EveryMapperWithAStart, NeverReturnsAHigherCost) {
  for (const auto& [name, machine] : every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      SCOPED_TRACE(name + " " + std::string(model.name));
      auto problem = make_problem(random_graph(6, 0.6, 7), machine, model.model);
      for (const std::uint64_t seed : {1, 2}) {
        problem.start = testing::random_placement(6, machine, problem.capacities, seed);
        const double start = problem.cost(problem.start);
        if (const auto result = run(problem)) {
          EXPECT_LE(problem.cost(result->mapping.cores()), start + 1e-12 * std::abs(start));
        }
      }
    }
  }
}

TEST_P(EveryMapper, ObservesItsTimeBudget) {
  const auto big = make_problem(testing::shuffled_grid(60, 60, 1), topology("switch:8=10 node:16=4 core:32=1"));
  const auto routed =
      make_problem(testing::shuffled_grid(16, 16, 1), topology("torus:16x16=1 core:1"), CostModel::congestion);
  for (const OwnedProblem* const problem : {&big, &routed}) {
    MapRun run_parameters;
    run_parameters.deadline = Deadline::in(std::chrono::milliseconds(200));
    const auto configured = testing::mapper(GetParam().spec());  // with its default options
    const CpuTime time;
    const auto result = run_mapper(configured, problem->view(), run_parameters, {.keep_worse = true});
    EXPECT_LT(time.seconds(), 5.0);  // a mapper without a check of the clock takes minutes
    if (result) expect_valid(*problem, *result);
  }
}

TEST_P(EveryMapper, NeverCostsMoreThanBlockAfterTheFallbackUnlessItIsABaseline) {
  for (const auto& [name, machine] : every_machine()) {
    SCOPED_TRACE(name);
    // Block is good for a chain of ranks, so a mapper with a bad result must fall back.
    CommGraphBuilder chain(6);
    for (std::uint32_t rank = 0; rank + 1 < 6; ++rank) chain.add(Rank{rank}, Rank{rank + 1}, 100);
    const auto problem = make_problem(std::move(chain).build(true), machine);
    const auto configured = reduced(GetParam());
    const auto result = run_mapper(configured, problem.view(), MapRun{});
    if (!result || GetParam().info.baseline) continue;
    EXPECT_LE(result->cost, result->cost_default);
    EXPECT_DOUBLE_EQ(result->cost_default,
                     problem.cost(block_placement(problem.graph.rank_count(), machine, problem.capacities)));
  }
}

std::vector<Row> rows(bool only_with_start) {
  std::vector<Row> selected;
  for (const MapperInfo& info : mappers()) {
    if (!info.takes_start && only_with_start) continue;
    const auto mapper = info.make();
    OptionList options;
    mapper->describe(options);
    const Option* const effort = options.find("effort");
    if (effort == nullptr) {
      selected.push_back({info, ""});
      continue;
    }
    for (const std::string& choice : effort->choices) selected.push_back({info, choice});
  }
  return selected;
}

std::string name_of(const ::testing::TestParamInfo<Row>& row) {
  std::string name(row.param.info.name);
  if (!row.param.effort.empty()) name += "_" + row.param.effort;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryMapper, ::testing::ValuesIn(rows(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Table, EveryMapperWithAStart, ::testing::ValuesIn(rows(true)), name_of);

}  // namespace
}  // namespace rankloom
