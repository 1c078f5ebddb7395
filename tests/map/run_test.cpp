// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/run.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::topology;

/// Returns a given placement.
class FixedMapper final : public Mapper {
 public:
  explicit FixedMapper(Placement placement, bool balances_load = false)
      : placement_(std::move(placement)), balances_load_(balances_load) {}
  bool balances_load() const override { return balances_load_; }
  Result<Placement> place(const MapProblem&, const MapRun&) const override { return placement_; }

 private:
  Placement placement_;
  bool balances_load_;
};

MapperInfo row(bool baseline) {
  return {.name = "fixed", .summary = "", .reference = "", .baseline = baseline, .takes_start = false, .make = nullptr};
}

/// Two communicating ranks on two nodes of two cores: on one node they cost 100, on two nodes 1000.
testing::OwnedProblem two_ranks(CostModel model = CostModel::bytes) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 100);
  return make_problem(std::move(builder).build(true), topology("node:2=10 core:2=1"), model);
}

Result<MapResult> run(const testing::OwnedProblem& problem, std::vector<Core> core_of, bool baseline,
                      MapRunOptions options, std::optional<double> bound = {}) {
  const MapperInfo info = row(baseline);
  const ConfiguredMapper mapper{&info, "fixed:option",
                                std::make_unique<FixedMapper>(Placement{std::move(core_of), bound, "a note"})};
  MapRun run_parameters;
  run_parameters.seed = 5;
  return run_mapper(mapper, problem.view(), run_parameters, options);
}

TEST(RunMapper, ReportsTheCostAndThatOfTheDefaultPlacement) {
  const auto result = run(two_ranks(), {Core{3}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->mapper, "fixed:option");
  EXPECT_EQ(result->seed, 5);
  EXPECT_EQ(result->cost, 100);
  EXPECT_EQ(result->cost_default, 100);
  EXPECT_EQ(result->mapping[Rank{0}], Core{3});
  EXPECT_FALSE(result->fell_back);
  EXPECT_EQ(result->note, "a note");
  EXPECT_GE(result->time_ms, 0);
}

TEST(RunMapper, FallsBackToTheDefaultPlacementIfTheResultIsWorse) {
  const auto result = run(two_ranks(), {Core{0}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->fell_back);
  EXPECT_EQ(result->cost, 100);
  EXPECT_EQ(result->mapping[Rank{1}], Core{1});
  EXPECT_NE(result->note, "a note");
}

TEST(RunMapper, FallsBackUnderAModelWhereLargerIsBetter) {
  const auto result = run(two_ranks(CostModel::quality), {Core{0}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->fell_back);
  EXPECT_EQ(result->cost, result->cost_default);
}

TEST(RunMapper, KeepsAWorseResultOfABaselineOrOnRequest) {
  for (const bool baseline : {true, false}) {
    const auto result = run(two_ranks(), {Core{0}, Core{2}}, baseline, {.keep_worse = !baseline});
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->fell_back);
    EXPECT_EQ(result->cost, 1000);
    EXPECT_EQ(result->mapping[Rank{1}], Core{2});
  }
}

TEST(RunMapper, ConvertsTheBoundToAValueOfTheCostModel) {
  EXPECT_EQ(run(two_ranks(), {Core{0}, Core{1}}, false, {}, 90)->lower_bound, 90);
  EXPECT_EQ(run(two_ranks(CostModel::quality), {Core{0}, Core{1}}, false, {}, -120)->lower_bound, 120);
}

/// Four ranks with loads 9, 1, 1, 1 on two cores; ranks communicate with their neighbours.
Result<MapResult> run_by_load(std::vector<Core> core_of) {
  CommGraphBuilder builder(4);
  for (std::uint32_t rank = 0; rank < 3; ++rank) builder.add(Rank{rank}, Rank{rank + 1}, 100);
  builder.set_loads({9, 1, 1, 1});
  const auto problem = make_problem(std::move(builder).build(true), topology("core:2=1"), CostModel::bytes,
                                    {.oversubscribe = true, .imbalance = 0});
  const MapperInfo info = row(false);
  const ConfiguredMapper mapper{&info, "balanced",
                                std::make_unique<FixedMapper>(Placement{std::move(core_of), {}, ""}, true)};
  return run_mapper(mapper, problem.view(), MapRun{});
}

TEST(RunMapper, AllowsAnyNumberOfRanksPerCoreIfTheMapperBalancesLoads) {
  const auto result = run_by_load({Core{0}, Core{1}, Core{1}, Core{1}});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->fell_back);
  EXPECT_EQ(result->load->heaviest_core, 9);
  EXPECT_EQ(result->load->lower_bound, 9);
  EXPECT_EQ(result->load->imbalance(), 0);
}

TEST(RunMapper, FallsBackFromALoadBalancedResultThatIsHeavierForTheSameCost) {
  const auto heavier = run_by_load({Core{0}, Core{0}, Core{0}, Core{1}});
  EXPECT_TRUE(heavier->fell_back);
  EXPECT_EQ(heavier->cost, 100);
  EXPECT_EQ(heavier->load->heaviest_core, 10);
}

TEST(RunMapper, KeepsALoadBalancedResultThatCostsMoreOnlyIfItIsBetterBalanced) {
  const auto lighter = run_by_load({Core{1}, Core{0}, Core{0}, Core{0}});
  EXPECT_FALSE(lighter->fell_back);
  const auto same_load_and_more_expensive = run_by_load({Core{0}, Core{1}, Core{0}, Core{1}});
  EXPECT_TRUE(same_load_and_more_expensive->fell_back);
  EXPECT_EQ(same_load_and_more_expensive->load->heaviest_core, 10);  // that of the default placement: 9 + 1
}

TEST(RunMapperDeathTest, DoesNotReturnAnInvalidPlacement) {
  ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const std::vector<std::vector<Core>> invalid{{Core{1}, Core{1}}, {Core{0}, Core{4}}, {Core{0}}};
  for (const auto& core_of : invalid) {
    EXPECT_DEBUG_DEATH(
        {
          const auto result = run(two_ranks(), core_of, false, {});
          EXPECT_FALSE(result);
        },
        "invalid placement");
  }
}

}  // namespace
}  // namespace rankloom
