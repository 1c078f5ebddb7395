// SPDX-License-Identifier: Apache-2.0
// map/portfolio: the price of nodes.
#include "rankloom/map/portfolio/node_price.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/model/rank_limits.hpp"
#include "tests/map/map_support.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;
using testing::make_problem;
using testing::OwnedProblem;
using testing::place_with;
using testing::topology;

/// Four pairs. The bus of a node carries the messages of one pair at a time.
OwnedProblem pairs_on_buses(const std::string& nodes = "node:4=1 core:8=0.1") {
  return make_problem(testing::shuffled_groups(4, 2, 1), topology(nodes + " width:bus=1"), CostModel::predicted);
}

std::uint32_t nodes_of(const OwnedProblem& problem, const std::string& spec) {
  return nodes_used(place_with(spec, problem).core_of, problem.topology);
}

std::vector<std::uint32_t> numbers(const Capacities& capacities, const Topology& machine) {
  std::vector<std::uint32_t> slots;
  for (const Core core : machine.cores()) slots.push_back(capacities[core]);
  return slots;
}

TEST(NodePrice, IsPaidForNodesBeyondTheFewest) {
  const auto problem = pairs_on_buses("node:3=1 core:5+12+7=0.1");
  const NodePrice price(problem.view(), 0.05);
  const std::vector<Core> on_second(8, Core{5}), on_all{Core{0}, Core{5}, Core{17}};
  EXPECT_EQ(price.factor(on_second), 1);
  EXPECT_DOUBLE_EQ(price.factor(on_all), 1.1);
  EXPECT_EQ(NodePrice(problem.view(), 0).factor(on_all), 1);
}

TEST(NodePrice, SelectsSlotsByNode) {
  const auto problem =
      make_problem(testing::shuffled_groups(2, 2, 1), topology("node:3=1 core:1+3+2=0.1"), CostModel::predicted);
  const NodePrice price(problem.view(), 0.05);
  EXPECT_THAT(numbers(price.fewest(), problem.topology), ::testing::ElementsAre(0, 1, 1, 1, 1, 1));
  const std::vector<Core> first_and_last{Core{0}, Core{5}};
  EXPECT_THAT(numbers(price.in_use(first_and_last), problem.topology), ::testing::ElementsAre(1, 0, 0, 0, 1, 1));
  EXPECT_EQ(NodePrice(problem.view(), 0).in_use(first_and_last).total(), 6);
}

TEST(NodePrice, AutoUsesMoreNodesOnlyIfTheyPay) {
  // n nodes divide the time by n: four nodes are worth up to 100 percent each.
  const auto problem = pairs_on_buses();
  EXPECT_EQ(nodes_of(problem, "auto"), 4);
  EXPECT_EQ(nodes_of(problem, "auto:node-price=200"), 4) << "time is preferred";
  EXPECT_EQ(nodes_of(problem, "auto:prefer=fewer-nodes"), 4);
  EXPECT_EQ(nodes_of(problem, "auto:prefer=fewer-nodes,node-price=90"), 4);
  EXPECT_EQ(nodes_of(problem, "auto:prefer=fewer-nodes,node-price=110"), 1);
  EXPECT_EQ(nodes_of(problem, "auto:prefer=fewer-nodes,node-price=110,effort=fast"), 1);
}

TEST(NodePrice, FewerNodesReplaceAFasterDefaultPlacement) {
  const auto problem = pairs_on_buses();
  const auto spread = place_with("auto", problem).core_of;
  const auto result = run_mapper(testing::mapper("auto:prefer=fewer-nodes,node-price=110"), problem.view(), MapRun{},
                                 {.default_placement = spread});
  ASSERT_TRUE(result);
  EXPECT_FALSE(result->fell_back);
  EXPECT_EQ(nodes_used(result->mapping.cores(), problem.topology), 1);
  EXPECT_GT(result->cost, result->cost_default);
}

TEST(NodePrice, NeedsPredictedTimes) {
  const auto problem =
      make_problem(testing::shuffled_groups(2, 2, 1), topology("node:3=1 core:2=0.1"), CostModel::bytes);
  const auto result = run_mapper(testing::mapper("auto:prefer=fewer-nodes"), problem.view(), MapRun{});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Code::usage);
  EXPECT_THAT(result.error().hint, HasSubstr("--model predicted"));
}

}  // namespace
}  // namespace rankloom
