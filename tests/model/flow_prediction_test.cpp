// SPDX-License-Identifier: Apache-2.0
// model/prediction: the prediction by flows, compared with manual calculations. Simulations compare it with SimGrid
// (evaluate/simulate_test.cpp).
#include "rankloom/model/prediction/flow_prediction.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"
#include "rankloom/model/prediction/predict.hpp"
#include "tests/support/graphs.hpp"

namespace rankloom {
namespace {

using testing::graph_of_messages;

double flow_seconds(const CommGraph& graph, const char* machine, std::vector<std::uint32_t> cores) {
  const Topology topology = *load_topology(machine);
  std::vector<Core> core_of;
  for (const std::uint32_t core : cores) core_of.push_back(Core{core});
  const auto predicted = predict_by_flows(graph, *Platform::of(topology), core_of);
  EXPECT_TRUE(predicted);
  return predicted.value_or(-1);
}

constexpr double rounding = 0.002;  // changes within a thousandth of the time happen at once

TEST(FlowPrediction, ASingleMessageTakesLatencyPlusTransferTime) {
  const char* machine = "node:2=10,2us core:2=1,100ns";
  const auto far = graph_of_messages(2, {{0, 1, 1000, 1}});
  EXPECT_NEAR(flow_seconds(far, machine, {0, 2}), 2e-6 + 1000 * 10e-9, 12e-6 * rounding);
  EXPECT_NEAR(flow_seconds(far, machine, {0, 1}), 100e-9 + 1000 * 1e-9, 1.1e-6 * rounding);
  EXPECT_NEAR(flow_seconds(far, "mesh:4=10,1us core:1", {0, 2}), 2e-6 + 1000 * 20e-9, 22e-6 * rounding);
  EXPECT_EQ(flow_seconds(far, machine, {3, 3}), 0) << "within a core";
}

TEST(FlowPrediction, MessagesOfAPairFollowOneAnother) {
  const char* machine = "node:2=10,2us core:2=1,100ns";
  for (const double messages : {2.0, 7.0, 1000.0}) {
    const double time = messages * (2e-6 + 1000 * 10e-9);
    EXPECT_NEAR(flow_seconds(graph_of_messages(2, {{0, 1, 1000 * messages, messages}}), machine, {0, 2}), time,
                time * rounding);
  }
}

TEST(FlowPrediction, MessagesShareAChannel) {
  const char* machine = "node:2=10,2us core:2=1,100ns";
  const auto two = graph_of_messages(4, {{0, 2, 1000, 1}, {1, 3, 1000, 1}});
  EXPECT_NEAR(flow_seconds(two, machine, {0, 1, 2, 3}), 2e-6 + 2000 * 10e-9, 22e-6 * rounding);
  // One card out, the other one in.
  EXPECT_NEAR(flow_seconds(two, machine, {0, 2, 3, 1}), 2e-6 + 1000 * 10e-9, 12e-6 * rounding);
  EXPECT_NEAR(flow_seconds(two, "node:2=10,2us core:2=1,100ns width:node=2", {0, 1, 2, 3}), 2e-6 + 1000 * 10e-9,
              12e-6 * rounding);
}

TEST(FlowPrediction, AShorterMessageLeavesItsShareToTheOther) {
  // Both share the card until the short message ends; then the other one has all of it.
  const auto two = graph_of_messages(4, {{0, 2, 1000, 1}, {1, 3, 5000, 1}});
  EXPECT_NEAR(flow_seconds(two, "node:2=10,2us core:2=1,100ns", {0, 1, 2, 3}), 2e-6 + 6000 * 10e-9, 62e-6 * rounding);
}

TEST(FlowPrediction, ARankBeginsARoundWhenItsMessagesOfTheLastOneHaveArrived) {
  // Two rounds: those of ranks 3 and 4, which exchange most bytes and take no time on one core. Rank 1 waits in the
  // first one for its message from rank 0, so that its second message to rank 2 begins late. No channel is shared.
  const auto chain = graph_of_messages(5, {{0, 1, 1000, 1}, {1, 2, 200, 2}, {3, 4, 1e9, 2}});
  const char* machine = "node:4=10,2us core:1=1,100ns";
  const double first = 2e-6 + 1000 * 10e-9, second = 2e-6 + 100 * 10e-9;
  EXPECT_NEAR(flow_seconds(chain, machine, {0, 1, 2, 3, 3}), first + second, (first + second) * rounding);
  const Topology topology = *load_topology(machine);
  const std::array core_of{Core{0}, Core{1}, Core{2}, Core{3}, Core{3}};
  EXPECT_LT(predict(chain, *Platform::of(topology), core_of).seconds, 0.95 * (first + second))
      << "busy channels alone do not tell";
}

TEST(FlowPrediction, PhasesFollowOneAnother) {
  CommGraph sum_of_phases = graph_of_messages(4, {{0, 2, 1000, 1}, {1, 3, 1000, 1}});
  auto parts = std::make_shared<TrafficParts>();
  parts->phases = {graph_of_messages(4, {{0, 2, 1000, 1}}), graph_of_messages(4, {{1, 3, 1000, 1}})};
  sum_of_phases.set_parts(parts);
  EXPECT_NEAR(flow_seconds(sum_of_phases, "node:2=10,2us core:2=1,100ns", {0, 1, 2, 3}), 2 * (2e-6 + 1000 * 10e-9),
              24e-6 * rounding);
}

/// A stencil of 5x4x6 ranks without wrap-around.
CommGraph stencil(double messages) {
  constexpr std::array<std::uint32_t, 3> sizes{5, 4, 6};
  CommGraphBuilder builder(sizes[0] * sizes[1] * sizes[2]);
  std::uint32_t rank = 0;
  for (std::uint32_t z = 0; z < sizes[2]; ++z) {
    for (std::uint32_t y = 0; y < sizes[1]; ++y) {
      for (std::uint32_t x = 0; x < sizes[0]; ++x, ++rank) {
        const auto exchange = [&](std::uint32_t other) {
          builder.add(Rank{rank}, Rank{other}, 10'000 * messages, messages);
          builder.add(Rank{other}, Rank{rank}, 10'000 * messages, messages);
        };
        if (x + 1 < sizes[0]) exchange(rank + 1);
        if (y + 1 < sizes[1]) exchange(rank + sizes[0]);
        if (z + 1 < sizes[2]) exchange(rank + sizes[0] * sizes[1]);
      }
    }
  }
  return std::move(builder).build(true);
}

TEST(FlowPrediction, ARepeatedRoundIsTheMeanOfThoseOfALongerRun) {
  const Topology topology = *load_topology("torus:3x4=0.1,1us core:10=0.05,200ns");
  const Platform platform = *Platform::of(topology);
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < 120; ++rank) core_of.push_back(Core{rank * 7 % 120});
  const CommGraph one = stencil(1), four = stencil(4);
  ASSERT_EQ(rounds_predicted_by_flows(one), 1);
  ASSERT_EQ(rounds_predicted_by_flows(four), 4);
  const double repeated = *predict_by_flows(one, platform, core_of, {.repeats = true});
  EXPECT_NEAR(repeated, *predict_by_flows(four, platform, core_of) / 4, 1e-5 * repeated);
  EXPECT_GT(std::abs(repeated - *predict_by_flows(one, platform, core_of)), 0.005 * repeated)
      << "ranks that are early delay others";
}

TEST(FlowPrediction, EndsAboveALimit) {
  const auto chain = graph_of_messages(4, {{0, 1, 1000, 1}, {1, 2, 200, 2}, {2, 3, 500, 3}});
  const Topology topology = *load_topology("node:4=10,2us core:1=1,100ns");
  const std::array core_of{Core{0}, Core{1}, Core{2}, Core{3}};
  const Platform platform = *Platform::of(topology);
  const double seconds = *predict_by_flows(chain, platform, core_of);
  EXPECT_EQ(predict_by_flows(chain, platform, core_of, {.limit = 1.01 * seconds}), seconds);
  EXPECT_EQ(predict_by_flows(chain, platform, core_of, {.limit = 0.9 * seconds}),
            std::numeric_limits<double>::infinity());
}

TEST(FlowPrediction, LargeProgramsHaveNone) {
  constexpr std::uint32_t ranks = 20'001;
  CommGraphBuilder builder(ranks);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) builder.add(Rank{rank}, Rank{(rank + 1) % ranks}, 1000, 1);
  const CommGraph ring = std::move(builder).build(true);
  EXPECT_EQ(rounds_predicted_by_flows(ring), 0);
  const Topology topology = *load_topology("node:20001=10,2us core:1=1,100ns");
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) core_of.push_back(Core{rank});
  EXPECT_FALSE(predict_by_flows(ring, *Platform::of(topology), core_of));
  EXPECT_GT(rounds_predicted_by_flows(graph_of_messages(2, {{0, 1, 1e12, 1e9}})), 0)
      << "many messages are not many flows";
}

}  // namespace
}  // namespace rankloom
