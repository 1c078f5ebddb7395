// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/map/eager/bin_packing.hpp"
#include "rankloom/map/eager/overload_removal.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

CommGraph with_loads(CommGraph graph, std::vector<double> loads) {
  auto rows = std::move(graph).release();
  rows.loads = std::move(loads);
  return CommGraph(std::move(rows));
}

std::vector<double> skewed_loads(const std::string& kind, std::uint32_t count, std::uint64_t seed) {
  Random random(seed, count);
  std::vector<double> loads(count, 1.0);
  for (std::uint32_t at = 0; at < count; ++at) {
    if (kind == "zipf") loads[at] = std::pow(at + 1.0, -0.5 - static_cast<double>(seed % 3) / 2);
    if (kind == "bimodal") loads[at] = random.below(5) == 0 ? 10 : 1;
    if (kind == "random") loads[at] = random.unit();
  }
  random.shuffle(std::span(loads));
  if (kind == "heavy") loads[random.below(count)] = count / 8.0;
  return loads;
}

OwnedProblem oversubscribed(CommGraph graph, Topology machine, CostModel model = CostModel::bytes) {
  return make_problem(std::move(graph), std::move(machine), model, {.oversubscribe = true});
}

MapResult run(const char* spec, const OwnedProblem& problem, MapRun how = {}) {
  auto result = run_mapper(testing::mapper(spec), problem.view(), how, {.keep_worse = true});
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return *std::move(result);
}

bool can_be_packed(const OwnedProblem& problem, double limit, bool shared = true) {
  std::vector<std::uint32_t> max_items;
  for (const Core core : problem.topology.cores()) {
    max_items.push_back(!shared                        ? problem.capacities[core]
                        : problem.capacities[core] > 0 ? problem.graph.rank_count()
                                                       : 0);
  }
  return pack_bins(problem.graph.loads(), max_items, limit).max_load <= limit;
}

TEST(EagerBalance, IsWithinFivePercentOfTheBoundAtTenPercentMoreCost) {
  int compared = 0, too_expensive = 0;
  for (const char* machine : {"node:4=10 core:4=1", "switch:2=50 node:2=10 package:2=3 core:4=1",
                              "torus:3x3=5 core:2=1", "node:3=10 core:2+7+4=1 !core:3"}) {
    for (const char* kind : {"zipf", "heavy", "bimodal", "random"}) {
      for (const std::uint32_t each : {4, 9, 30}) {
        for (std::uint64_t seed = 0; seed < 3; ++seed) {
          SCOPED_TRACE(::testing::Message() << machine << ", " << kind << ", " << each << " per core, seed " << seed);
          const Topology on = topology(machine);
          const std::uint32_t width = 8;
          const std::uint32_t ranks = on.core_count() * each / width * width;
          CommGraph graph = seed == 1 ? testing::shuffled_groups(ranks / 8, 8, seed)
                                      : testing::shuffled_grid(ranks / width, width, 1);
          const auto problem = oversubscribed(with_loads(std::move(graph), skewed_loads(kind, ranks, seed)), on);
          const auto by_load = run("eager:load", problem);
          const auto balanced = run("eager:balance", problem);
          if (!can_be_packed(problem, balanced.load->lower_bound * 1.05)) continue;
          ++compared;
          EXPECT_LE(balanced.load->imbalance(), 0.05);
          const bool expensive = balanced.cost > 1.1 * by_load.cost;
          EXPECT_EQ(balanced.note.find("costs") != std::string::npos, expensive) << balanced.note;
          too_expensive += expensive ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(compared, 120);
  // With cliques of eight, loads of 1 and 10, and four ranks per core, balance and low cost exclude each other.
  EXPECT_LE(too_expensive, 1);
}

TEST(EagerBalance, KeepsTheLimitWithFewDifferentRanksPerCore) {
  int tight = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const std::uint32_t each = 2 + seed % 2;
    const Topology machine = topology("node:2=10 core:8=1");
    const auto problem = oversubscribed(
        with_loads(testing::shuffled_grid(8 * each, 2, seed), skewed_loads("random", 16 * each, seed)), machine);
    const auto balanced = run("eager:balance", problem);
    if (!can_be_packed(problem, balanced.load->lower_bound * 1.05)) continue;
    ++tight;
    EXPECT_LE(balanced.load->imbalance(), 0.05) << seed;
    const auto by_load = run("eager:load", problem);
    if (balanced.cost > 1.1 * by_load.cost) {
      EXPECT_THAT(balanced.note, HasSubstr("costs")) << seed;
    }
  }
  EXPECT_GE(tight, 5);
}

TEST(EagerBalance, KeepsABalancedPlacement) {
  // Two heavy tasks on two cores, and light tasks that communicate with them.
  CommGraphBuilder builder(6);
  for (std::uint32_t task : {1, 2}) builder.add(Rank{0}, Rank{task}, 10);
  for (std::uint32_t task : {4, 5}) builder.add(Rank{3}, Rank{task}, 10);
  builder.set_loads({8, 1, 1, 8, 1, 1});
  const auto problem = oversubscribed(std::move(builder).build(false), topology("node:2=10 core:1"));
  const auto balanced = run("eager:balance", problem);
  EXPECT_EQ(balanced.mapping, run("eager:load", problem).mapping);
  EXPECT_EQ(balanced.load->imbalance(), 0);
}

TEST(EagerBalance, ReportsThatNoPackingWithinTheLimitWasFound) {
  CommGraphBuilder builder(4);
  builder.set_loads({1, 1, 1, 0.25});
  const auto problem = oversubscribed(std::move(builder).build(false), topology("core:2=1"));
  const auto balanced = run("eager:balance", problem);
  EXPECT_EQ(balanced.load->heaviest_core, 2);
  EXPECT_THAT(balanced.note, HasSubstr("no packing of the loads within 5 %"));
}

TEST(EagerBalance, RespectsCapacitiesThatSuffice) {
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const auto problem =
        make_problem(with_loads(testing::random_graph(22, 0.3, seed), skewed_loads("random", 22, seed)),
                     topology("node:2=10 core:4*3=1"));  // 24 slots
    const auto balanced = run("eager:balance", problem);
    EXPECT_TRUE(Mapping::create({balanced.mapping.cores().begin(), balanced.mapping.cores().end()}, problem.topology,
                                problem.capacities));
    if (!can_be_packed(problem, balanced.load->lower_bound * 1.05, false)) continue;
    ++possible;
    EXPECT_LE(balanced.load->imbalance(), 0.05) << seed;
  }
  EXPECT_GE(possible, 5);
}

TEST(EagerBalance, GivesAValidMappingUnderEveryModelOnEveryMachine) {
  for (const auto& [name, machine] : testing::every_machine()) {
    for (const CostModelInfo& model : cost_models()) {
      if (model.model == CostModel::predicted) continue;  // mappers get its pairwise model
      SCOPED_TRACE(name + " " + std::string(model.name));
      for (const std::uint32_t ranks : {1, 6, 60}) {
        const auto problem = oversubscribed(
            with_loads(testing::random_graph(ranks, 0.2, 3), skewed_loads("zipf", ranks, 0)), machine, model.model);
        const auto balanced = run("eager:balance", problem);
        if (ranks == 60 && can_be_packed(problem, balanced.load->lower_bound * 1.05)) {
          EXPECT_LE(balanced.load->imbalance(), 0.05);
        }
      }
    }
  }
}

TEST(EagerBalance, IsBalancedEvenWhenTheDeadlineHasPassed) {
  const auto problem = oversubscribed(with_loads(testing::shuffled_grid(40, 40, 1), skewed_loads("zipf", 1600, 0)),
                                      topology("node:4=9 core:8=1"));
  MapRun how;
  how.deadline = Deadline::in(std::chrono::milliseconds(0));
  const auto balanced = run("eager:balance", problem, how);
  EXPECT_LE(balanced.load->imbalance(), 0.05);
  EXPECT_THAT(balanced.note, HasSubstr("stopped"));
}

TEST(EagerBalance, GivesTheSameResultOnAnyNumberOfThreads) {
  const auto problem = oversubscribed(with_loads(testing::shuffled_grid(12, 16, 1), skewed_loads("random", 192, 5)),
                                      topology("node:6=9 core:8+9+8+9+8+9=1"));
  const auto with_threads = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return run("eager:balance", problem).mapping;
  };
  EXPECT_EQ(with_threads(1), with_threads(2));
}

TEST(RepackOverloadedParts, KeepsRanksOnTheirNodeIfPossible) {
  // On the first node all ranks are on one core; the second node is full and balanced.
  const Topology machine = topology("node:2=10 core:2=1");
  const Capacities capacities = Capacities::unbounded(machine, 4);
  const std::vector<double> loads{1, 1, 1, 1};
  std::vector<Core> core_of{Core{0}, Core{0}, Core{2}, Core{3}};
  EXPECT_EQ(repack_overloaded_parts(machine, capacities, loads, std::vector<std::uint32_t>(4, 4), 1, core_of), 1);
  EXPECT_EQ(machine.node_of(core_of[0]), Node{0});
  EXPECT_EQ(machine.node_of(core_of[1]), Node{0});
  EXPECT_NE(core_of[0], core_of[1]);
  EXPECT_EQ(core_of[2], Core{2});
  EXPECT_EQ(core_of[3], Core{3});
}

}  // namespace
}  // namespace rankloom
