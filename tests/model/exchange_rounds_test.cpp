// SPDX-License-Identifier: Apache-2.0
// model/graph: the messages of a program divided into rounds and steps.
#include "rankloom/model/graph/exchange_rounds.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/graphs.hpp"

namespace rankloom {
namespace {

using testing::graph_of_messages;

using Totals = std::map<std::pair<Rank, Rank>, std::array<double, 2>>;  // bytes, messages

void add(const std::vector<ExchangeStep>& steps, Totals& totals) {
  for (const ExchangeStep& step : steps) {
    for (const StepMessage& message : step) {
      totals[{message.from, message.to}][0] += message.bytes;
      totals[{message.from, message.to}][1] += message.count;
    }
  }
}

TEST(ExchangeRounds, AreThoseOfThePairsWithMostBytes) {
  EXPECT_EQ(estimate_rounds(graph_of_messages(3, {{0, 1, 1e6, 50}, {1, 2, 1e6, 50}, {2, 0, 10, 5000}})), 50);
  EXPECT_EQ(estimate_rounds(graph_of_messages(3, {{0, 1, 1e6, 50}, {1, 2, 1e6, 100}})), 50);
  EXPECT_EQ(estimate_rounds(graph_of_messages(2, {})), 1);
  EXPECT_EQ(estimate_rounds(graph_of_messages(2, {{0, 0, 1e9, 7}, {0, 1, 1, 3}})), 3)
      << "what a rank sends to itself does not count";
}

TEST(ExchangeRounds, AllRoundsTogetherHaveAllMessages) {
  const CommGraph graph =
      graph_of_messages(4, {{0, 1, 1e6, 10}, {1, 2, 3e5, 3}, {2, 3, 700, 35}, {3, 0, 17, 1}, {2, 2, 9, 9}});
  for (const std::size_t max_steps : {1U, 2U, 3U, 64U}) {
    Totals totals;
    for (std::uint32_t round = 0; round < 10; ++round) {
      const auto steps = exchange_steps(graph, 10, round, max_steps);
      EXPECT_LE(steps.size(), max_steps);
      add(steps, totals);
    }
    ASSERT_EQ(totals.size(), 4U);
    for (const Rank from : graph.ranks()) {
      for (std::size_t edge = 0; edge < graph.degree(from); ++edge) {
        if (graph.targets(from)[edge] == from) continue;
        const auto [bytes, messages] = totals[{from, graph.targets(from)[edge]}];
        EXPECT_NEAR(bytes, graph.bytes(from)[edge], 1e-6);
        EXPECT_EQ(messages, graph.messages(from)[edge]);
      }
    }
  }
}

TEST(ExchangeRounds, AStepHasOneMessageOfAPair) {
  const CommGraph graph = graph_of_messages(3, {{0, 1, 5000, 5}, {1, 2, 600, 2}});
  const auto steps = exchange_steps(graph, 1, 0, 64);
  ASSERT_EQ(steps.size(), 5U);
  EXPECT_EQ(steps[1].size(), 2U);
  EXPECT_EQ(steps[2].size(), 1U);
  EXPECT_EQ(steps[4].front().bytes, 1000);
  EXPECT_EQ(steps[4].front().count, 1);
}

TEST(ExchangeRounds, ManyMessagesOfAPairShareTheLastSteps) {
  const CommGraph graph = graph_of_messages(3, {{0, 1, 1e6, 1000}, {1, 2, 600, 2}});
  const auto steps = exchange_steps(graph, 1, 0, 16);
  ASSERT_EQ(steps.size(), 16U);
  EXPECT_EQ(steps[0].size(), 2U);
  EXPECT_EQ(steps[0].front().count, 1);
  for (std::size_t step = 1; step < steps.size(); ++step) {
    ASSERT_FALSE(steps[step].empty());
    EXPECT_GE(steps[step].front().count, steps[step - 1].front().count) << step;
  }
  Totals totals;
  add(steps, totals);
  EXPECT_EQ((totals[{Rank{0}, Rank{1}}][1]), 1000);
}

}  // namespace
}  // namespace rankloom
