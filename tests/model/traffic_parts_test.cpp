// SPDX-License-Identifier: Apache-2.0
// Collectives with two levels, and the phases of a program, in the predicted time.
#include "rankloom/model/graph/traffic_parts.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/discover/discover.hpp"
#include "rankloom/model/cost/incremental_cost.hpp"
#include "rankloom/model/prediction/predict.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

CommGraph graph_of(std::uint32_t ranks, std::initializer_list<std::tuple<std::uint32_t, std::uint32_t, double>> edges) {
  CommGraphBuilder builder(ranks);
  for (const auto& [from, to, bytes] : edges) builder.add(Rank{from}, Rank{to}, bytes);
  return std::move(builder).build(true);
}

Profile one_call(CollectiveOp op, std::uint32_t ranks, double bytes, std::uint32_t root = 0) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(ranks).build(true);
  profile.communicators.push_back({.name = "world", .members = {}});
  profile.collectives.push_back({.op = op, .root = root, .bytes = bytes, .count = 2});
  return profile;
}

std::vector<Core> cores(std::initializer_list<std::uint32_t> numbers) {
  std::vector<Core> result;
  for (const std::uint32_t number : numbers) result.push_back(Core{number});
  return result;
}

double bytes_between(const CommGraph& graph, const std::vector<std::uint32_t>& node_of) {
  double sum = 0;
  for (const Rank rank : graph.ranks())
    for (std::size_t at = 0; at < graph.degree(rank); ++at)
      if (node_of[index(rank)] != node_of[index(graph.targets(rank)[at])]) sum += graph.bytes(rank)[at];
  return sum;
}

TEST(NodeCollectives, AreNotPairsOfTheGraphUnlessAllRanksAreOnOneNode) {
  const Profile profile = one_call(CollectiveOp::allreduce, 8, 80);
  for (const CollectiveModel model : {CollectiveModel::mpich, CollectiveModel::openmpi5}) {
    const CommGraph graph = traffic(profile, model);
    EXPECT_EQ(graph.edge_count(), 0U);
    ASSERT_NE(graph.parts(), nullptr);
    EXPECT_EQ(graph.parts()->node_collectives.calls.size(), 1U);
    EXPECT_NE(digest(graph), digest(traffic(profile, CollectiveModel::none)));
    const CommGraph on_one_node = traffic(profile, model, NodeCount::one);
    EXPECT_EQ(on_one_node.parts(), nullptr);
    EXPECT_GT(on_one_node.edge_count(), 0U);
  }
  EXPECT_EQ(traffic(profile, CollectiveModel::openmpi).parts(), nullptr);
}

TEST(NodeCollectives, ReduceInsideTheNodesExchangeBetweenLeadersAndBroadcast) {
  // Nodes {0, 2, 3} and {1}: 2 and 3 send to 0, 0 and 1 exchange, 0 sends the result to 2 and 3.
  const CommGraph graph = traffic(one_call(CollectiveOp::allreduce, 4, 8), CollectiveModel::mpich);
  const CommGraph pairs = node_traffic(graph, std::vector<std::uint32_t>{5, 7, 5, 5});
  EXPECT_THAT(pairs.targets(Rank{0}), ElementsAre(Rank{1}, Rank{2}, Rank{3}));
  EXPECT_THAT(pairs.bytes(Rank{0}), ElementsAre(16, 16, 16));
  EXPECT_THAT(pairs.targets(Rank{1}), ElementsAre(Rank{0}));
  EXPECT_THAT(pairs.targets(Rank{2}), ElementsAre(Rank{0}));
  EXPECT_THAT(pairs.targets(Rank{3}), ElementsAre(Rank{0}));
  EXPECT_EQ(pairs.total_messages(), 2 * 6);
}

TEST(NodeCollectives, TheRootLeadsItsNode) {
  const CommGraph graph = traffic(one_call(CollectiveOp::bcast, 4, 8, 3), CollectiveModel::mpich);
  const CommGraph pairs = node_traffic(graph, std::vector<std::uint32_t>{0, 0, 1, 1});
  EXPECT_THAT(pairs.targets(Rank{3}), ElementsAre(Rank{0}, Rank{2}));
  EXPECT_THAT(pairs.targets(Rank{0}), ElementsAre(Rank{1}));
  EXPECT_THAT(pairs.targets(Rank{1}), IsEmpty());
}

TEST(NodeCollectives, HaveTheSameTrafficBetweenNodesForEveryPlacementOnAsManyNodes) {
  const std::vector<std::uint32_t> block{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  const std::vector<std::uint32_t> round_robin{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3};
  for (const CollectiveOp op : {CollectiveOp::barrier, CollectiveOp::bcast, CollectiveOp::reduce, CollectiveOp::gather,
                                CollectiveOp::scatter, CollectiveOp::allreduce, CollectiveOp::allgather}) {
    for (const double bytes : {8.0, 1e6}) {
      const CommGraph graph = traffic(one_call(op, 16, bytes), CollectiveModel::openmpi5);
      const CommGraph a = node_traffic(graph, block), b = node_traffic(graph, round_robin);
      EXPECT_NEAR(bytes_between(a, block), bytes_between(b, round_robin), 1) << to_string(op);
      EXPECT_EQ(a.total_messages(), b.total_messages()) << to_string(op);
    }
  }
}

TEST(NodeCollectives, SmallerCommunicatorsAreExpandedAmongTheirMembers) {
  Profile profile = one_call(CollectiveOp::allreduce, 8, 8);
  profile.communicators[0].members = {Rank{1}, Rank{4}, Rank{6}, Rank{7}};
  const CommGraph graph = traffic(profile, CollectiveModel::mpich);
  EXPECT_EQ(graph.parts(), nullptr);
  EXPECT_EQ(graph.edge_count(), 8U);
}

TEST(NodeCollectives, CountInThePredictedTime) {
  const Topology topology = *load_topology("node:2=10,2us core:2=1,100ns");
  const Platform platform = *Platform::of(topology);
  Profile profile = one_call(CollectiveOp::bcast, 4, 1000);
  profile.collectives[0].count = 1;
  const CommGraph graph = traffic(profile, CollectiveModel::mpich);
  // The leaders exchange one message between the nodes, and every placement on two nodes takes the same time.
  const double seconds = predict(graph, platform, cores({0, 1, 2, 3})).seconds;
  EXPECT_DOUBLE_EQ(seconds, 2e-6 + 1000 * 10e-9);
  EXPECT_DOUBLE_EQ(predict(graph, platform, cores({0, 2, 1, 3})).seconds, seconds);
}

Phase phase_of(CommGraph graph) {
  Phase phase;
  phase.point_to_point = std::move(graph);
  return phase;
}

/// Windows in which ranks 0 and 1 communicate, and others in which ranks 0 and 2 do.
Profile two_phases() {
  Profile profile;
  profile.point_to_point = graph_of(4, {{0, 1, 5000}, {0, 2, 8000}});
  profile.phases.push_back(phase_of(graph_of(4, {{0, 1, 3000}})));
  profile.phases.push_back(phase_of(graph_of(4, {{0, 2, 8000}})));
  profile.phases.push_back(phase_of(graph_of(4, {{0, 1, 2000}})));
  profile.phases.push_back(phase_of(graph_of(4, {})));
  return profile;
}

TEST(Phases, SimilarWindowsAreOnePhase) {
  const CommGraph graph = traffic(two_phases(), CollectiveModel::tree);
  ASSERT_NE(graph.parts(), nullptr);
  ASSERT_EQ(graph.parts()->phases.size(), 2U);
  EXPECT_EQ(graph.parts()->phases[0].total_bytes(), 5000);
  EXPECT_EQ(graph.parts()->phases[1].total_bytes(), 8000);
  EXPECT_EQ(graph.total_bytes(), 13000);
  Profile without_phases = two_phases();
  without_phases.phases.clear();
  EXPECT_NE(digest(graph), digest(traffic(without_phases, CollectiveModel::tree)));
}

TEST(Phases, AProgramWithOneKindOfWindowHasNoPhases) {
  Profile profile = two_phases();
  profile.phases.erase(profile.phases.begin() + 1);
  EXPECT_EQ(traffic(profile, CollectiveModel::tree).parts(), nullptr);
}

TEST(Phases, ThereAreAtMostEight) {
  Profile profile;
  profile.point_to_point = graph_of(32, {});
  for (std::uint32_t rank = 1; rank < 32; ++rank) {
    profile.phases.push_back(phase_of(graph_of(32, {{0, rank, 100}})));
    profile.point_to_point = sum(profile.point_to_point, profile.phases.back().point_to_point);
  }
  const CommGraph graph = traffic(profile, CollectiveModel::tree);
  ASSERT_EQ(graph.parts()->phases.size(), 8U);
  double bytes = 0;
  for (const CommGraph& phase : graph.parts()->phases) bytes += phase.total_bytes();
  EXPECT_EQ(bytes, graph.total_bytes());
}

TEST(Phases, ThePredictedTimeIsTheSumOfThoseOfThePhases) {
  const Topology topology = *load_topology("node:4=10,2us core:1=1,100ns");
  const Platform platform = *Platform::of(topology);
  const CommGraph graph = traffic(two_phases(), CollectiveModel::tree);
  const auto placement = cores({0, 1, 2, 3});
  const Prediction prediction = predict(graph, platform, placement);
  // The transfers of rank 0 share its card in the sum of the traffic, but not in a phase; latencies add up.
  EXPECT_DOUBLE_EQ(prediction.seconds, 2 * 2e-6 + 5000 * 10e-9 + 2e-6 + 8000 * 10e-9);
  EXPECT_DOUBLE_EQ(prediction.rank_seconds[1], 2 * 2e-6 + 5000 * 10e-9);
  EXPECT_EQ(prediction.busiest.front().bytes, 8000) << "of the longest phase";
  EXPECT_DOUBLE_EQ(evaluate(graph, topology, placement, CostModel::predicted), prediction.seconds);
}

TEST(Phases, ChangesOfTheSmoothCostAreThoseOfAllPhases) {
  const Topology topology = *load_topology("node:2=10,2us core:4=1,100ns");
  const CommGraph graph = traffic(two_phases(), CollectiveModel::tree);
  const auto cost = make_incremental_cost(graph, topology, CostModel::predicted, cores({0, 1, 4, 5}));
  const auto cost_of = [&](const std::vector<Core>& placement) {
    double sum = 0;
    for (const CommGraph& phase : graph.parts()->phases)
      sum += make_incremental_cost(phase, topology, CostModel::predicted, placement)->cost();
    return sum;
  };
  EXPECT_DOUBLE_EQ(cost->cost(), cost_of(cores({0, 1, 4, 5})));
  const double before = cost->cost();
  const double delta = cost->exchange_delta(Rank{1}, Rank{2});
  cost->exchange(Rank{1}, Rank{2});
  EXPECT_NEAR(cost->cost(), before + delta, 1e-12);
  EXPECT_NEAR(cost->cost(), cost_of(cores({0, 4, 1, 5})), 1e-12);
  const double moved = cost->move_delta(Rank{1}, Core{2});
  cost->move(Rank{1}, Core{2});
  EXPECT_NEAR(cost->cost(), cost_of(cores({0, 2, 1, 5})), 1e-12);
  EXPECT_LT(moved, 0);
  EXPECT_EQ(std::vector<Core>(cost->placement()), cores({0, 2, 1, 5}));
  EXPECT_THAT(cost->neighbours(Rank{0}), ElementsAre(Rank{1}, Rank{2}));
  EXPECT_THAT(cost->ranks_in_the_way(), ElementsAre(Rank{0}, Rank{2})) << "of the longest phase";
}

}  // namespace
}  // namespace rankloom
