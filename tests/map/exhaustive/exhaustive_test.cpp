// SPDX-License-Identifier: Apache-2.0
// Compares the optimum with a brute-force search over all placements.
#include <array>
#include <chrono>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/map/exhaustive/branch_and_bound.hpp"
#include "rankloom/model/machine/distance.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::OwnedProblem;
using testing::topology;

/// Visits all placements of a problem whose cost model is a sum over pairs; adds a task's cost when it is placed.
class BruteForce {
 public:
  explicit BruteForce(const OwnedProblem& problem)
      : problem_(problem),
        distance_(make_distance(problem.topology, problem.model)),
        free_(problem.topology.core_count()) {
    for (const Core core : problem.topology.cores()) free_[index(core)] = problem.capacities[core];
    for (const Rank rank : problem.graph.ranks()) {
      for (std::size_t edge = 0; edge < problem.graph.degree(rank); ++edge) {
        const Rank target = problem.graph.targets(rank)[edge];
        if (target == rank && problem.model == CostModel::quality) continue;
        const double messages =
            problem.graph.has_messages() ? problem.graph.messages(rank)[edge] : problem.graph.default_messages();
        flows_.push_back({rank, target, problem.graph.bytes(rank)[edge], messages});
      }
    }
    core_of_.resize(problem.graph.rank_count());
  }

  double optimum() {
    place(0, 0);
    return optimum_;
  }

 private:
  struct Flow {
    Rank from, to;
    double bytes, messages;
  };

  void place(std::uint32_t task, double cost) {
    if (task == core_of_.size()) {
      optimum_ = std::min(optimum_, cost);
      return;
    }
    for (const Core core : problem_.topology.cores()) {
      if (free_[index(core)] == 0) continue;
      --free_[index(core)];
      core_of_[task] = core;
      place(task + 1, cost + added_by(Rank{task}));
      ++free_[index(core)];
    }
  }

  /// Flows of this task to itself and to the tasks before it.
  double added_by(Rank task) const {
    double cost = 0;
    for (const Flow& flow : flows_) {
      if (std::max(flow.from, flow.to) != task) continue;
      const PairCost pair = std::visit(
          [&](const auto& distance) { return distance(core_of_[index(flow.from)], core_of_[index(flow.to)]); },
          distance_);
      cost += flow.bytes * pair.per_byte + flow.messages * pair.per_message;
    }
    return cost;
  }

  const OwnedProblem& problem_;
  Distance distance_;
  std::vector<std::uint32_t> free_;
  std::vector<Flow> flows_;
  std::vector<Core> core_of_;
  double optimum_ = 1e300;
};

/// Visits all placements and evaluates each of them, under any cost model.
double optimum_by_evaluation(const OwnedProblem& problem, std::vector<Core>& core_of,
                             std::vector<std::uint32_t>& used) {
  if (core_of.size() == problem.graph.rank_count()) return problem.cost(core_of);
  double optimum = 1e300;
  for (const Core core : problem.topology.cores()) {
    if (used[index(core)] == problem.capacities[core]) continue;
    ++used[index(core)];
    core_of.push_back(core);
    optimum = std::min(optimum, optimum_by_evaluation(problem, core_of, used));
    core_of.pop_back();
    --used[index(core)];
  }
  return optimum;
}

/// Directed traffic, sparse or dense; with few different amounts many tasks are interchangeable.
CommGraph random_traffic(std::uint32_t tasks, Random& random) {
  const double density = random.below(2) == 0 ? 0.3 : 1.0;
  const std::uint64_t amounts = std::array{1, 2, 100}[random.below(3)];  // one: only messages have a cost
  CommGraphBuilder builder(tasks);
  for (std::uint32_t from = 0; from < tasks; ++from) {
    for (std::uint32_t to = 0; to < tasks; ++to) {
      if (random.unit() >= density) continue;
      builder.add(Rank{from}, Rank{to}, static_cast<double>(random.below(amounts)),
                  static_cast<double>(random.below(4)));
    }
  }
  return std::move(builder).build(random.below(2) == 0);
}

Topology random_machine(std::uint32_t cores, Random& random) {
  const std::string count = std::to_string(cores);
  switch (random.below(6)) {
    case 0:
      return testing::random_table(cores, random.next());
    case 1: {  // symmetric, with few different distances
      std::vector<double> distances(std::size_t{cores} * cores, 0);
      for (std::uint32_t p = 0; p < cores; ++p) {
        for (std::uint32_t q = 0; q < p; ++q) {
          distances[p * cores + q] = distances[q * cores + p] = static_cast<double>(1 + random.below(3));
        }
      }
      return *Topology::from_matrix(cores, std::move(distances));
    }
    case 2:
      return topology("core:" + count + "=3,2ns");
    case 3:
      return topology("torus:" + count + "=2,3ns core:1");
    case 4: {
      const auto first = static_cast<std::uint32_t>(1 + random.below(cores));
      if (first == cores) return topology("node:1=7 core:" + count + "=1");
      return topology("node:2=7.5,30ns core:" + std::to_string(first) + "+" + std::to_string(cores - first) + "=1,2ns");
    }
    default:
      return topology(cores % 2 == 0 ? "switch:2=9,9ns node:" + std::to_string(cores / 2) + "=4,5ns core:1"
                                     : "node:" + count + "=4,5ns core:1");
  }
}

TEST(Exhaustive, EqualsBruteForceOn200RandomInstances) {
  const CostModel models[] = {CostModel::bytes, CostModel::time, CostModel::hopbytes, CostModel::quality};
  Random random(2015);
  for (int instance = 0; instance < 200; ++instance) {
    // Every eighth instance has 8 tasks on 9 cores; the others are smaller.
    const auto cores = static_cast<std::uint32_t>(instance % 8 == 0 ? 9 : 1 + random.below(8));
    const auto tasks = static_cast<std::uint32_t>(instance % 8 == 0 ? 8 : 1 + random.below(std::min(cores, 7U)));
    const auto problem = make_problem(random_traffic(tasks, random), random_machine(cores, random),
                                      models[instance % 4 == 0 ? instance / 8 % 4 : instance % 4]);
    const double optimum = BruteForce(problem).optimum();
    const Placement placement = testing::place_with("exhaustive", problem, random.next());
    SCOPED_TRACE(fmt::format("instance {}: {} tasks on {} cores", instance, tasks, cores));
    ASSERT_NEAR(problem.cost(placement.core_of), optimum, 1e-9 * (1 + std::abs(optimum)));
    ASSERT_EQ(placement.note, "proved optimal");
    ASSERT_EQ(placement.lower_bound, problem.cost(placement.core_of));
  }
}

TEST(Exhaustive, EqualsBruteForceWhenTasksShareCores) {
  Random random(7);
  for (int instance = 0; instance < 40; ++instance) {
    const auto cores = static_cast<std::uint32_t>(1 + random.below(4));
    const auto tasks = static_cast<std::uint32_t>(1 + random.below(6));
    const auto problem = make_problem(random_traffic(tasks, random), random_machine(cores, random),
                                      instance % 2 == 0 ? CostModel::time : CostModel::quality,
                                      {.oversubscribe = true, .imbalance = instance % 3 == 0 ? 0.5 : 0.0});
    const double optimum = BruteForce(problem).optimum();
    const Placement placement = testing::place_with("exhaustive", problem);
    ASSERT_NEAR(problem.cost(placement.core_of), optimum, 1e-9 * (1 + std::abs(optimum))) << instance;
  }
}

TEST(Exhaustive, EqualsBruteForceForTheMostLoadedLink) {
  Random random(8);
  for (const char* machine :
       {"torus:5=1 core:1", "mesh:2x3=1 core:1", "node:3=4 core:2=1", "switch:2=9 node:3=4 core:1", "tree:2,3=2 core:1",
        "fattree:2,3=2 core:1", "dragonfly:2,1,3=2 core:1", "node:2=4 core:2*2=1"}) {
    for (const std::uint32_t tasks : {3U, 5U}) {
      const auto problem = make_problem(random_traffic(tasks, random), topology(machine), CostModel::congestion);
      std::vector<Core> core_of;
      std::vector<std::uint32_t> used(problem.topology.core_count(), 0);
      const double optimum = optimum_by_evaluation(problem, core_of, used);
      const Placement placement = testing::place_with("exhaustive", problem);
      ASSERT_NEAR(problem.cost(placement.core_of), optimum, 1e-9 * (1 + optimum)) << machine;
      ASSERT_EQ(placement.note, "proved optimal");
    }
  }
}

TEST(Exhaustive, TheSearchItselfFindsTheOptimumFromAPoorStart) {
  Random random(9);
  std::size_t improved = 0;
  for (const CostModel model : {CostModel::congestion, CostModel::bytes}) {
    for (int instance = 0; instance < 15; ++instance) {
      const auto problem = make_problem(random_traffic(5, random), topology("mesh:2x3=1 core:1"), model);
      std::vector<Core> core_of;
      std::vector<std::uint32_t> used(problem.topology.core_count(), 0);
      const double optimum = optimum_by_evaluation(problem, core_of, used);
      const MapProblem view = problem.view();
      const DenseQap qap(view);
      const MachineSymmetry none(
          problem.topology, problem.topology.levels().size(), [](Core, Core) { return false; },
          [](Core, Core, Core, Core) { return false; });
      StopCondition never{Deadline()};
      SearchBudget budget(1'000'000, never);
      Incumbent incumbent;
      for (const std::uint32_t core : {5U, 0U, 4U, 1U, 3U}) incumbent.core_of.push_back(Core{core});
      incumbent.cost = problem.cost(incumbent.core_of);
      improved += incumbent.cost > optimum ? 1 : 0;
      if (model == CostModel::congestion) {
        search_congestion(view, qap, none, budget, incumbent);
      } else {
        search_pairwise(qap, none, budget, incumbent);
      }
      EXPECT_NEAR(problem.cost(incumbent.core_of), optimum, 1e-9 * (1 + optimum)) << instance;
      EXPECT_NEAR(incumbent.cost, optimum, 1e-9 * (1 + optimum)) << instance;
    }
  }
  EXPECT_GE(improved, 15U);
}

CommGraph all_to_all(std::uint32_t tasks, std::uint64_t seed) {
  Random random(seed);
  CommGraphBuilder builder(tasks);
  for (std::uint32_t from = 0; from < tasks; ++from) {
    for (std::uint32_t to = 0; to < tasks; ++to) {
      if (from != to) builder.add(Rank{from}, Rank{to}, static_cast<double>(1 + random.below(99)));
    }
  }
  return std::move(builder).build(true);
}

TEST(Exhaustive, SolvesTenTasksOnFifteenCores) {
  const auto no_symmetry = make_problem(all_to_all(10, 1), testing::random_table(15, 2));
  EXPECT_EQ(testing::place_with("exhaustive", no_symmetry).note, "proved optimal");
  const auto cluster = make_problem(all_to_all(10, 3), topology("node:3=10 core:5=1"));
  EXPECT_EQ(testing::place_with("exhaustive", cluster).note, "proved optimal");
}

TEST(Exhaustive, SolvesAUniformAllToAllBecauseItsTasksAreInterchangeable) {
  CommGraphBuilder builder(10);
  for (std::uint32_t from = 0; from < 10; ++from) {
    for (std::uint32_t to = 0; to < 10; ++to) builder.add(Rank{from}, Rank{to}, 1);
  }
  const auto problem = make_problem(std::move(builder).build(true), topology("mesh:3x5=1 core:1"));
  EXPECT_EQ(testing::place_with("exhaustive:nodes=100000", problem).note, "proved optimal");
}

TEST(Exhaustive, RefusesProblemsThatAreTooLargeWithAHint) {
  const auto large = make_problem(all_to_all(20, 1), testing::random_table(20, 1));
  const auto small = make_problem(all_to_all(8, 1), testing::random_table(9, 1));
  const auto refused = testing::mapper("exhaustive").mapper->place(large.view(), MapRun{});
  const auto aborted = testing::mapper("exhaustive:nodes=5").mapper->place(small.view(), MapRun{});
  for (const auto* const result : {&refused, &aborted}) {
    ASSERT_FALSE(*result);
    EXPECT_EQ(result->error().code, Code::infeasible);
    EXPECT_THAT(result->error().hint, ::testing::HasSubstr("force"));
  }
  EXPECT_TRUE(testing::mapper("exhaustive:nodes=5,force").mapper->place(small.view(), MapRun{}));
}

TEST(Exhaustive, ReturnsItsIncumbentAndABoundAfterTheDeadline) {
  const auto problem = make_problem(all_to_all(20, 1), testing::random_table(20, 1));
  MapRun run;
  run.deadline = Deadline::in(std::chrono::milliseconds(100));
  const auto placement = testing::mapper("exhaustive").mapper->place(problem.view(), run);
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->note, ::testing::HasSubstr("time"));
  ASSERT_TRUE(placement->lower_bound);
  EXPECT_LE(*placement->lower_bound, problem.cost(placement->core_of));
}

}  // namespace
}  // namespace rankloom
