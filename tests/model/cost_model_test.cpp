// SPDX-License-Identifier: Apache-2.0
#include "rankloom/model/cost/cost_model.hpp"

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/cost/loads.hpp"
#include "tests/support/instances.hpp"

namespace rankloom {
namespace {

using testing::topology;

/// 0 → 1: 100 bytes in 2 messages; 1 → 2: 10 bytes in 1 message.
CommGraph chain() {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 100, 2);
  builder.add(Rank{1}, Rank{2}, 10, 1);
  return std::move(builder).build(true);
}

const std::vector<Core> identity{Core{0}, Core{1}, Core{2}};

TEST(CostModel, EachModelEqualsAManualCalculation) {
  const auto machine = topology("node:2=10,1000ns core:2=1,100ns");
  const auto graph = chain();
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::bytes), 100 * 1 + 10 * 10);
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::time), 100 * 1 + 2 * 100 + 10 * 10 + 1 * 1000);
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::hopbytes), 10 * 2);
  EXPECT_DOUBLE_EQ(evaluate(graph, machine, identity, CostModel::quality), 100 / 100.0 + 10 / 1000.0);
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::congestion), 10);
}

TEST(CostModel, AnUndirectedEdgeCostsOnce) {
  CommGraphBuilder builder(2);
  builder.add(Rank{0}, Rank{1}, 7);
  const auto graph = std::move(builder).build(false, true);
  const auto machine = topology("core:2=3,5ns");
  const std::vector<Core> two{Core{0}, Core{1}};
  EXPECT_EQ(evaluate(graph, machine, two, CostModel::bytes), 21);
  EXPECT_EQ(evaluate(graph, machine, two, CostModel::time), 21 + 5);
}

TEST(CostModel, CongestionFollowsTheRoutesOfAMesh) {
  // Ranks 0 and 1 both send to 2 along the same row: the last link carries both.
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{2}, 100);
  builder.add(Rank{1}, Rank{2}, 30);
  const auto graph = std::move(builder).build(true);
  const auto machine = topology("mesh:1x3=5 core:1");
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::congestion), 130);
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::hopbytes), 230);
  EXPECT_EQ(evaluate(graph, machine, identity, CostModel::bytes), 230 * 5);
}

TEST(CostModel, QualityUsesInverseBandwidthWithoutLatencies) {
  EXPECT_DOUBLE_EQ(evaluate(chain(), topology("node:2=10 core:2=1"), identity, CostModel::quality),
                   100 / 1.0 + 10 / 10.0);
}

TEST(CostModel, NoTrafficCostsNothing) {
  const CommGraph silent = CommGraphBuilder(3).build(true);
  for (const auto& row : cost_models())
    EXPECT_EQ(evaluate(silent, topology("node:2 core:2"), identity, row.model), 0) << row.name;
}

TEST(CostModel, TheTableIsSortedByTheEnumeration) {
  for (const auto& row : cost_models()) {
    EXPECT_EQ(info(row.model).name, row.name);
    EXPECT_EQ(find_cost_model(row.name), row.model);
  }
  EXPECT_FALSE(find_cost_model("volume"));
}

TEST(CostModel, ThreadsDoNotChangeTheValue) {
  const auto machine = topology("switch:8=7.3 node:16=3.1 core:64=0.7");
  CommGraphBuilder builder(8192);
  Random random(1);
  for (int edge = 0; edge < 100'000; ++edge) {
    builder.add(Rank{static_cast<std::uint32_t>(random.below(8192))},
                Rank{static_cast<std::uint32_t>(random.below(8192))}, random.unit());
  }
  const auto graph = std::move(builder).build(true);
  const auto capacities = Capacities::of(machine, 8192, {});
  const auto placement = testing::random_placement(8192, machine, *capacities, 3);
  const auto value = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return evaluate(graph, machine, placement, CostModel::bytes);
  };
  EXPECT_EQ(value(1), value(2));
}

TEST(LoadBalance, ComparesTheHeaviestCoreWithTheBestPossible) {
  auto rows = chain().release();
  rows.loads.assign({3, 2, 1});
  const CommGraph graph(std::move(rows));
  const auto machine = topology("core:2");
  const std::vector<Core> uneven{Core{0}, Core{0}, Core{1}}, even{Core{0}, Core{1}, Core{1}};
  EXPECT_EQ(load_balance(graph, machine, uneven).heaviest_core, 5);
  EXPECT_EQ(load_balance(graph, machine, uneven).lower_bound, 3);
  EXPECT_DOUBLE_EQ(load_balance(graph, machine, uneven).imbalance(), 5.0 / 3 - 1);
  EXPECT_EQ(load_balance(graph, machine, even).imbalance(), 0);
  EXPECT_EQ(load_balance(graph, topology("core:6"), even).lower_bound, 3) << "the load of the heaviest rank";
}

TEST(Bounds, WithAGapOfAHundredPercentSayNothing) {
  EXPECT_FALSE(is_informative_bound(100, 0));
  EXPECT_FALSE(is_informative_bound(1e6, 1));
  EXPECT_TRUE(is_informative_bound(100, 1));
  EXPECT_TRUE(is_informative_bound(0, 0));  // optimal
  EXPECT_EQ(gap_percent(100, 75), 25);
  EXPECT_EQ(gap_percent(-100, -125), 20);
}

}  // namespace
}  // namespace rankloom
