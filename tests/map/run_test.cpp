// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/run.hpp"

#include <gtest/gtest.h>

#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using testing::make_problem;
using testing::topology;

/// Returns what it was told to.
class Stubborn final : public Mapper {
 public:
  explicit Stubborn(Placement placement, bool by_load = false) : placement_(std::move(placement)), by_load_(by_load) {}
  bool balances_load() const override { return by_load_; }
  Result<Placement> place(const MapProblem&, const MapRun&) const override { return placement_; }

 private:
  Placement placement_;
  bool by_load_;
};

MapperInfo row(bool baseline) {
  return {
      .name = "stubborn", .summary = "", .reference = "", .baseline = baseline, .takes_start = false, .make = nullptr};
}

/// Two ranks that talk, on two nodes of two cores: together they cost 100, apart 1000.
testing::OwnedProblem two_ranks(CostModel model = CostModel::bytes) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 100);
  return make_problem(std::move(builder).build(true), topology("node:2=10 core:2=1"), model);
}

Result<MapResult> run(const testing::OwnedProblem& problem, std::vector<Core> core_of, bool baseline,
                      RunOptions options, std::optional<double> bound = {}) {
  const MapperInfo info = row(baseline);
  const ConfiguredMapper mapper{&info, "stubborn:very",
                                std::make_unique<Stubborn>(Placement{std::move(core_of), bound, "said so"})};
  MapRun how;
  how.seed = 5;
  return run_mapper(mapper, problem.view(), how, options);
}

TEST(RunMapper, SaysWhatItCostsAndWhatTheDefaultOrderCosts) {
  const auto result = run(two_ranks(), {Core{3}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_EQ(result->mapper, "stubborn:very");
  EXPECT_EQ(result->seed, 5);
  EXPECT_EQ(result->cost, 100);
  EXPECT_EQ(result->cost_default, 100);
  EXPECT_EQ(result->mapping[Rank{0}], Core{3});
  EXPECT_FALSE(result->fell_back);
  EXPECT_EQ(result->note, "said so");
  EXPECT_GE(result->time_ms, 0);
}

TEST(RunMapper, FallsBackToTheDefaultOrderWhenTheResultIsWorse) {
  const auto result = run(two_ranks(), {Core{0}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->fell_back);
  EXPECT_EQ(result->cost, 100);
  EXPECT_EQ(result->mapping[Rank{1}], Core{1});
  EXPECT_NE(result->note, "said so");
}

TEST(RunMapper, FallsBackUnderAModelWhereLargerIsBetter) {
  const auto result = run(two_ranks(CostModel::quality), {Core{0}, Core{2}}, false, {});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->fell_back);
  EXPECT_EQ(result->cost, result->cost_default);
}

TEST(RunMapper, KeepsAWorseResultOfABaselineOrWhenAsked) {
  for (const bool baseline : {true, false}) {
    const auto result = run(two_ranks(), {Core{0}, Core{2}}, baseline, {.keep_worse = !baseline});
    ASSERT_TRUE(result);
    EXPECT_FALSE(result->fell_back);
    EXPECT_EQ(result->cost, 1000);
    EXPECT_EQ(result->mapping[Rank{1}], Core{2});
  }
}

TEST(RunMapper, TurnsTheBoundIntoAValueOfTheModel) {
  EXPECT_EQ(run(two_ranks(), {Core{0}, Core{1}}, false, {}, 90)->lower_bound, 90);
  EXPECT_EQ(run(two_ranks(CostModel::quality), {Core{0}, Core{1}}, false, {}, -120)->lower_bound, 120);
}

/// Four ranks of loads 9, 1, 1, 1 on two cores, neighbours talk.
Result<MapResult> run_by_load(std::vector<Core> core_of) {
  CommGraphBuilder builder(4);
  for (std::uint32_t rank = 0; rank < 3; ++rank) builder.add(Rank{rank}, Rank{rank + 1}, 100);
  builder.set_loads({9, 1, 1, 1});
  const auto problem = make_problem(std::move(builder).build(true), topology("core:2=1"), CostModel::bytes,
                                    {.oversubscribe = true, .imbalance = 0});
  const MapperInfo info = row(false);
  const ConfiguredMapper mapper{&info, "balanced",
                                std::make_unique<Stubborn>(Placement{std::move(core_of), {}, ""}, true)};
  return run_mapper(mapper, problem.view(), MapRun{});
}

TEST(RunMapper, LetsAMapperThatBalancesLoadsPutAnyNumberOfRanksOnACore) {
  const auto result = run_by_load({Core{0}, Core{1}, Core{1}, Core{1}});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->fell_back);
  EXPECT_EQ(result->load->heaviest_core, 9);
  EXPECT_EQ(result->load->bound, 9);
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
  const auto as_heavy_and_dearer = run_by_load({Core{0}, Core{1}, Core{0}, Core{1}});
  EXPECT_TRUE(as_heavy_and_dearer->fell_back);
  EXPECT_EQ(as_heavy_and_dearer->load->heaviest_core, 10);  // that of the default order: 9 + 1
}

TEST(RunMapperDeathTest, DoesNotHandOutAnInvalidPlacement) {
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
