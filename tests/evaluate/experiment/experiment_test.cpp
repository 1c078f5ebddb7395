// SPDX-License-Identifier: Apache-2.0
// Tests of evaluate/experiment: summaries of runs, performance profiles and sentences, against values computed by hand.
#include "rankloom/evaluate/experiment/experiment.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/capture/generate/generate.hpp"
#include "rankloom/discover/discover.hpp"
#include "rankloom/evaluate/experiment/instance_packs.hpp"
#include "rankloom/model/cost/cost_model.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ExperimentRun run_of(const std::string& graph, const std::string& mapper, std::uint64_t seed, double cost,
                     double cpu_seconds = 1, const std::string& instance_class = "all") {
  return {.graph = graph,
          .machine = "m",
          .mapper = mapper,
          .instance_class = instance_class,
          .seed = seed,
          .cost = cost,
          .seconds = cpu_seconds,
          .cpu_seconds = cpu_seconds,
          .ranks = 4,
          .edges = 8};
}

TEST(Experiment, TakesGeometricMeansOverSeedsAndInstances) {
  // Instance g: a has sqrt(2 x 8) = 4, b has 8; instance h: a has 9, b has 3.
  const std::vector<ExperimentRun> runs{run_of("g", "a", 0, 2, 1), run_of("g", "b", 0, 8, 4), run_of("g", "a", 1, 8, 4),
                                        run_of("h", "a", 0, 9, 2), run_of("h", "b", 0, 3, 1)};
  const Experiment experiment = Experiment::of(runs);
  EXPECT_THAT(experiment.mappers, ElementsAre("a", "b"));
  EXPECT_DOUBLE_EQ(experiment.instances[0].cells[0].cost, 4);
  EXPECT_EQ(experiment.instances[0].cells[0].min_cost, 2);
  const auto rows = summarise_mappers(experiment, "", 0);
  EXPECT_DOUBLE_EQ(rows[0].cost, 6);                         // sqrt(4 x 9)
  EXPECT_DOUBLE_EQ(rows[1].cost, std::sqrt(24));             // sqrt(8 x 3)
  EXPECT_DOUBLE_EQ(rows[1].cost_ratio, std::sqrt(2.0 / 3));  // sqrt(8/4 x 3/9)
  EXPECT_DOUBLE_EQ(rows[1].cpu_ratio, 1);                    // sqrt(4/2 x 1/2)
  EXPECT_EQ(rows[0].best, 1U);
  EXPECT_EQ(rows[1].best, 1U);
}

TEST(Experiment, HasOnePointOfConvergenceForEachBudget) {
  std::vector<ExperimentRun> runs{run_of("g", "a", 0, 4, 2), run_of("g", "a", 0, 8, 1), run_of("g", "b", 0, 2, 3),
                                  run_of("h", "a", 0, 6, 8), run_of("h", "a", 0, 8, 4), run_of("h", "b", 0, 6, 3)};
  for (const std::size_t longer : {0, 3}) runs[longer].budget = 10;
  for (const std::size_t shorter : {1, 4}) runs[shorter].budget = 0.5;
  const Experiment experiment = Experiment::of(runs);
  EXPECT_THAT(experiment.mappers, ElementsAre("a in 10 s", "a in 500 ms", "b"));
  const auto curves = convergence(experiment);
  ASSERT_EQ(curves.size(), 2U);
  EXPECT_EQ(curves[0].first, "a");
  ASSERT_EQ(curves[0].second.size(), 2U);
  EXPECT_EQ(curves[0].second[0].budget, 0.5);
  EXPECT_DOUBLE_EQ(curves[0].second[0].cost_ratio, std::sqrt(4.0 * 8 / 6));  // 8/2 and 8/6
  EXPECT_DOUBLE_EQ(curves[0].second[0].cpu_seconds, 2);                      // 1 and 4
  EXPECT_DOUBLE_EQ(curves[0].second[1].cost_ratio, std::sqrt(2));            // 4/2 and 6/6
  EXPECT_DOUBLE_EQ(curves[0].second[1].cpu_seconds, 4);                      // 2 and 8
  EXPECT_DOUBLE_EQ(curves[1].second[0].cost_ratio, 1);
}

TEST(Experiment, LeavesOutInstancesThatAMapperDidNotSolve) {
  std::vector<ExperimentRun> runs{run_of("g", "a", 0, 2), run_of("g", "b", 0, 4), run_of("h", "a", 0, 100),
                                  run_of("h", "b", 0, 1)};
  runs[3].error = "ended by signal 9";
  const Experiment experiment = Experiment::of(runs);
  EXPECT_EQ(experiment.failed_runs, 1U);
  const auto rows = summarise_mappers(experiment, "", 0);
  EXPECT_EQ(rows[0].instances, 1U);
  EXPECT_DOUBLE_EQ(rows[0].cost, 2);
  EXPECT_FALSE(experiment.instances[1].complete());
}

TEST(Experiment, SummarisesEachClass) {
  const std::vector<ExperimentRun> runs{run_of("g", "a", 0, 2, 1, "x"), run_of("h", "a", 0, 8, 1, "y")};
  const Experiment experiment = Experiment::of(runs);
  EXPECT_THAT(experiment.classes(), ElementsAre("x", "y"));
  EXPECT_DOUBLE_EQ(summarise_mappers(experiment, "y", 0)[0].cost, 8);
}

TEST(Experiment, HasPerformanceRatiosToTheBestOfEachInstance) {
  std::vector<ExperimentRun> runs{run_of("g", "a", 0, 2), run_of("g", "b", 0, 4), run_of("h", "a", 0, 3),
                                  run_of("h", "b", 0, 1), run_of("z", "a", 0, 0), run_of("z", "b", 0, 0)};
  runs[2].error = "failed";
  const auto ratios = performance_ratios(Experiment::of(runs));
  EXPECT_THAT(ratios[0], ElementsAre(1, 1, std::numeric_limits<double>::infinity()));
  EXPECT_THAT(ratios[1], ElementsAre(1, 1, 2));
}

std::string sentence(int less, int more, int same) {
  std::vector<ExperimentRun> runs;
  for (int i = 0; i < less + more + same; ++i) {
    const std::string graph = "g" + std::to_string(i);
    const double cost = i < less ? 50.0 - i : i < less + more ? 200.0 + i : 100;
    runs.push_back(run_of(graph, "base", 0, 100));
    runs.push_back(run_of(graph, "new", 0, cost));
  }
  return to_sentence(compare_with_baseline(Experiment::of(runs), 1, 0), "base");
}

TEST(MapperTest, SaysInASentenceWhatTheTestFinds) {
  EXPECT_THAT(sentence(8, 0, 1), "new costs less than base on 8 of 9 instances (p = 0.0078, effect -1.00)");
  EXPECT_THAT(sentence(4, 4, 0), HasSubstr("which may be chance"));
  EXPECT_THAT(sentence(5, 0, 3), HasSubstr("5 with different costs are too few for a test, which needs 6"));
  EXPECT_THAT(sentence(0, 0, 3), "new costs the same as base on all 3 instances");
  EXPECT_THAT(sentence(0, 6, 0), HasSubstr("new costs more than base on 6 of 6 instances (p = 0.031"));
}

TEST(InstancePacks, ConsistOfPatternsAndMachinesThatCanBeBuilt) {
  for (const InstancePack& pack : instance_packs()) {
    EXPECT_TRUE(find_cost_model(pack.model)) << pack.name;
    for (const PackInstance& instance : pack.instances) {
      ASSERT_TRUE(instance.graph.starts_with("gen:"));
      const auto profile = generate(instance.graph.substr(4));
      ASSERT_TRUE(profile) << instance.graph << ": " << profile.error().what;
      const auto machine = load_topology(std::string(instance.machine));
      ASSERT_TRUE(machine) << instance.machine << ": " << machine.error().what;
      EXPECT_LE(profile->rank_count(), machine->core_count()) << instance.graph << " on " << instance.machine;
      EXPECT_GT(instance.best_known, 0) << instance.graph << " on " << instance.machine;
      EXPECT_FALSE(instance.found_by.empty());
    }
  }
  const auto unknown = find_instance_pack("mesh");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().hint, HasSubstr("pack:meshes"));
}

}  // namespace
}  // namespace rankloom
