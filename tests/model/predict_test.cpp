// SPDX-License-Identifier: Apache-2.0
// model/prediction: the analytic prediction, compared with manual calculations.
#include "rankloom/model/prediction/predict.hpp"

#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/prediction/bottlenecks.hpp"
#include "tests/support/graphs.hpp"

namespace rankloom {
namespace {

using testing::graph_of_messages;

constexpr std::array<Core, 4> in_order{Core{0}, Core{1}, Core{2}, Core{3}};

TEST(Predict, ASingleMessageTakesLatencyPlusTransferTime) {
  const Topology topology = *load_topology("node:2=10,2us core:2=1,100ns");
  const Platform platform = *Platform::of(topology);
  const auto far = predict(graph_of_messages(4, {{0, 2, 1000, 1}}), platform, in_order);
  EXPECT_DOUBLE_EQ(far.seconds, 2e-6 + 1000 * 10e-9);
  EXPECT_DOUBLE_EQ(far.rank_seconds[2], far.seconds);
  EXPECT_EQ(far.rank_seconds[1], 0);
  EXPECT_DOUBLE_EQ(predict(graph_of_messages(4, {{0, 1, 1000, 5}}), platform, in_order).seconds,
                   5 * 100e-9 + 1000 * 1e-9);
}

TEST(Predict, MessagesOfDifferentPartnersOverlapAndThoseOfOnePartnerDoNot) {
  const Topology topology = *load_topology("node:2=10,2us core:2=1,100ns");
  const Platform platform = *Platform::of(topology);
  const auto times = predict(graph_of_messages(4, {{0, 1, 0, 30}, {0, 2, 0, 3}, {3, 0, 0, 1}}), platform, in_order);
  EXPECT_DOUBLE_EQ(times.rank_seconds[0], 6e-6);
  EXPECT_DOUBLE_EQ(times.rank_seconds[1], 3e-6);
  EXPECT_DOUBLE_EQ(times.rank_seconds[3], 2e-6);
}

TEST(Predict, MessagesOutOfANodeShareItsChannel) {
  const Topology topology = *load_topology("node:2=10,2us core:2=1,100ns");
  const Platform platform = *Platform::of(topology);
  const auto both =
      predict(graph_of_messages(4, {{0, 1, 1000, 1}, {0, 2, 1000, 1}, {1, 3, 1000, 1}}), platform, in_order);
  EXPECT_DOUBLE_EQ(both.rank_seconds[0], 2e-6 + 2000 * 10e-9);
  EXPECT_DOUBLE_EQ(both.rank_seconds[1], 2e-6 + 2000 * 10e-9);
  EXPECT_DOUBLE_EQ(both.seconds, both.rank_seconds[0]);
  ASSERT_EQ(both.busiest.size(), 2) << "one channel of the nodes, one of the cores";
  EXPECT_EQ(platform.name(both.busiest[0].channel), "node 0's card, out");
  EXPECT_DOUBLE_EQ(both.busiest[0].seconds, 20e-6);
  EXPECT_DOUBLE_EQ(both.busiest[0].bytes, 2000);
  EXPECT_EQ(platform.name(both.busiest[1].channel), "core 0 of node 0, out");
  EXPECT_DOUBLE_EQ(both.busiest[1].seconds, 2e-6);
}

TEST(Predict, DistantNodesAreSlowAndSharedLinksSlower) {
  const Topology topology = *load_topology("mesh:4=10,1us core:1");
  const Platform platform = *Platform::of(topology);
  EXPECT_DOUBLE_EQ(predict(graph_of_messages(4, {{0, 2, 1000, 1}}), platform, in_order).seconds, 2e-6 + 1000 * 20e-9);
  // The link between nodes 1 and 2 transfers 3,000 bytes.
  const auto crowded =
      predict(graph_of_messages(4, {{0, 2, 1000, 1}, {1, 3, 1000, 1}, {1, 2, 1000, 1}}), platform, in_order);
  EXPECT_EQ(platform.name(crowded.busiest[0].channel), "link from node 1 to node 2");
  EXPECT_DOUBLE_EQ(crowded.busiest[0].seconds, 3000 * 10e-9);
  EXPECT_DOUBLE_EQ(crowded.rank_seconds[0], 2e-6 + 30e-6);
}

TEST(Predict, MessagesWithinACoreTakeNoTime) {
  const Topology topology = *load_topology("node:2=10 core:2=1");
  const Platform platform = *Platform::of(topology);
  const std::array<Core, 2> same{Core{1}, Core{1}};
  EXPECT_EQ(predict(graph_of_messages(2, {{0, 1, 1e9, 1}}), platform, same).seconds, 0);
}

/// More nodes, which have no ranks, change nothing but the way of the computation.
TEST(Predict, ManyRanksPerCoreHaveTheSameTimesOnALargerMachine) {
  const Topology small = *load_topology("node:2=10,2us core:2=1,100ns"),
                 large = *load_topology("node:20=10,2us core:2=1,100ns");
  constexpr std::uint32_t ranks = 9000;  // several chunks
  CommGraphBuilder builder(ranks);
  std::vector<Core> core_of;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    core_of.push_back(Core{rank * 7 % 11 % 4});
    for (const std::uint32_t distance : {1U, 5U, 4000U})
      builder.add(Rank{rank}, Rank{(rank + distance) % ranks}, 100.0 + rank * 13 % 97, 1 + rank % 3);
  }
  const CommGraph graph = std::move(builder).build(true);
  const Platform on_small = *Platform::of(small), on_large = *Platform::of(large);
  const Prediction shared = predict(graph, on_small, core_of), separate = predict(graph, on_large, core_of);
  EXPECT_DOUBLE_EQ(shared.seconds, separate.seconds);
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    ASSERT_DOUBLE_EQ(shared.rank_seconds[rank], separate.rank_seconds[rank]) << rank;
  ASSERT_EQ(shared.busiest.size(), separate.busiest.size());
  for (std::size_t at = 0; at < shared.busiest.size(); ++at) {
    EXPECT_EQ(on_small.name(shared.busiest[at].channel), on_large.name(separate.busiest[at].channel));
    EXPECT_DOUBLE_EQ(shared.busiest[at].bytes, separate.busiest[at].bytes);
  }
  for (const auto longest : {&Prediction::longest_transfer, &Prediction::longest_latency}) {
    EXPECT_EQ((shared.*longest).from, (separate.*longest).from);
    EXPECT_EQ((shared.*longest).to, (separate.*longest).to);
    EXPECT_DOUBLE_EQ((shared.*longest).seconds, (separate.*longest).seconds);
  }
}

TEST(Predict, RoutesFromATableAndComputedOnesGiveTheSameTimes) {
  // Routes are tabulated if there are more edges than cores and, on a network, pairs of nodes.
  const auto cores = [](int count) { return std::to_string(count) + "=1,100ns width:bus=2"; };
  CommGraphBuilder builder(4);
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) {
      if (from != to) builder.add(Rank{from}, Rank{to}, 1000 * from + 100 * to, from + 1);
    }
  }
  const CommGraph graph = std::move(builder).build(true);
  for (const char* nodes : {"node:2=10,2us core:", "torus:2=10,2us core:", "switch:1=9 node:2=10,2us core:"}) {
    const auto small = predict(graph, *Platform::of(*load_topology(nodes + cores(2))), in_order);
    const std::array<Core, 4> same_pairs{Core{0}, Core{1}, Core{20}, Core{21}};
    const auto large = predict(graph, *Platform::of(*load_topology(nodes + cores(20))), same_pairs);
    EXPECT_EQ(small.seconds, large.seconds) << nodes;
    EXPECT_EQ(small.rank_seconds, large.rank_seconds) << nodes;
    EXPECT_GT(small.seconds, 0) << nodes;
  }
}

TEST(Bottlenecks, TheLongestTimeComesFirst) {
  const Platform platform = *Platform::of(*load_topology("switch:2=20,3us node:2=10,2us core:2=1,100ns"));
  const std::array<Core, 4> one_per_node{Core{0}, Core{2}, Core{4}, Core{6}};
  const auto words = [&](double messages) {
    const CommGraph graph = graph_of_messages(4, {{0, 1, 1000, 1}, {1, 0, 4000, 1}, {1, 2, 1000, messages}});
    return bottleneck_sentence(predict_time(graph, platform, one_per_node).bottlenecks);
  };
  EXPECT_EQ(words(1), "node 1's card, out: 5 kB in 50 µs; next: uplink of switch 0, out: 20 µs");
  EXPECT_EQ(words(100), "latency between ranks 1 and 2: 300 µs; next: node 1's card, out: 50 µs");
  EXPECT_EQ(bottleneck_sentence({}), "none");
}

TEST(Bottlenecks, ASingleTransferOverManyHopsMayTakeLongest) {
  const Platform platform = *Platform::of(*load_topology("mesh:4=10 core:1"));
  const auto time = predict_time(graph_of_messages(4, {{0, 3, 1000, 1}}), platform, in_order);
  ASSERT_FALSE(time.bottlenecks.empty());
  EXPECT_EQ(first_bottleneck(time.bottlenecks), "transfer from rank 0 to rank 3: 1 kB in 30 µs");
  EXPECT_DOUBLE_EQ(time.seconds, time.bottlenecks[0].seconds);
}

}  // namespace
}  // namespace rankloom
