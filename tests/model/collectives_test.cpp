// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <cmath>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

constexpr double block = 16;
constexpr double calls = 3;

constexpr std::array all_ops = {CollectiveOp::barrier,   CollectiveOp::bcast,    CollectiveOp::reduce,
                                CollectiveOp::gather,    CollectiveOp::scatter,  CollectiveOp::allreduce,
                                CollectiveOp::allgather, CollectiveOp::alltoall, CollectiveOp::reduce_scatter,
                                CollectiveOp::scan};

bool rooted(CollectiveOp op) {
  return op == CollectiveOp::bcast || op == CollectiveOp::reduce || op == CollectiveOp::gather ||
         op == CollectiveOp::scatter;
}

Profile silent_profile(std::uint32_t ranks) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(ranks).build(true);
  profile.communicators.push_back({.name = "world", .members = {}});
  return profile;
}

CommGraph expand(CollectiveOp op, CollectiveModel model, std::uint32_t ranks, std::uint32_t root = 0) {
  Profile profile = silent_profile(ranks);
  profile.collectives.push_back({.op = op, .root = root, .bytes = block, .count = calls});
  return traffic(std::move(profile), model);
}

/// The bytes (in blocks) and messages of one call.
struct Totals {
  double blocks;
  double messages;
};

/// The total number of set bits in 0..n-1.
double bits_below(std::uint32_t n) {
  double sum = 0;
  for (std::uint32_t v = 0; v < n; ++v) sum += std::popcount(v);
  return sum;
}

Totals logical_totals(CollectiveOp op, double n) {
  if (op == CollectiveOp::barrier) return {0, 0};
  if (rooted(op)) return {n - 1, n - 1};
  if (op == CollectiveOp::scan) return {n * (n - 1) / 2, n * (n - 1) / 2};
  return {n * (n - 1), n * (n - 1)};
}

Totals tree_totals(CollectiveOp op, std::uint32_t ranks) {
  const double n = ranks;
  const double core = std::bit_floor(ranks);
  switch (op) {
    case CollectiveOp::barrier:
      return {0, n * std::bit_width(ranks - 1)};
    case CollectiveOp::bcast:
    case CollectiveOp::reduce:
      return {n - 1, n - 1};
    case CollectiveOp::gather:
    case CollectiveOp::scatter:
      return {bits_below(ranks), n - 1};  // the block of member v, counted from the root, makes popcount(v) hops
    case CollectiveOp::allreduce: {
      const double messages = core * std::log2(core) + 2 * (n - core);
      return {messages, messages};
    }
    case CollectiveOp::scan:
      return {2 * bits_below(ranks), 2 * bits_below(ranks)};  // each pair v, v without one of its bits, both ways
    default:
      return {n * (n - 1), n * (n - 1)};
  }
}

Totals flat_totals(CollectiveOp op, double n) {
  if (rooted(op)) return {n - 1, n - 1};
  const double messages = 2 * (n - 1);
  switch (op) {
    case CollectiveOp::barrier:
      return {0, messages};
    case CollectiveOp::allgather:
    case CollectiveOp::reduce_scatter:
      return {(n - 1) * (n + 1), messages};
    case CollectiveOp::alltoall:
      return {2 * (n - 1) * (n - 1), messages};
    default:
      return {messages, messages};
  }
}

double bytes_from(const CommGraph& graph, Rank rank) {
  const auto bytes = graph.bytes(rank);
  return std::accumulate(bytes.begin(), bytes.end(), 0.0);
}

std::vector<double> bytes_into(const CommGraph& graph) {
  std::vector<double> sum(graph.rank_count());
  for (const Rank from : graph.ranks())
    for (std::size_t e = 0; e < graph.degree(from); ++e) sum[index(graph.targets(from)[e])] += graph.bytes(from)[e];
  return sum;
}

std::uint32_t reachable_from(const CommGraph& graph, Rank start) {
  std::vector<bool> seen(graph.rank_count());
  std::vector<Rank> open = {start};
  seen[index(start)] = true;
  std::uint32_t count = 0;
  while (!open.empty()) {
    const Rank here = open.back();
    open.pop_back();
    ++count;
    for (const Rank next : graph.targets(here)) {
      if (seen[index(next)]) continue;
      seen[index(next)] = true;
      open.push_back(next);
    }
  }
  return count;
}

TEST(Collectives, EveryOperationIsFoundByItsName) {
  for (const CollectiveOp op : all_ops) EXPECT_EQ(find_collective_op(to_string(op)), op);
  EXPECT_EQ(to_string(CollectiveOp::reduce_scatter), "reduce_scatter");
  EXPECT_EQ(find_collective_op("Allreduce"), std::nullopt);
}

TEST(Collectives, TheTableOfModelsContainsEachModelOnce) {
  ASSERT_EQ(collective_models().size(), 8U);
  for (std::size_t row = 0; row < 8; ++row)
    EXPECT_EQ(collective_models()[row].model, static_cast<CollectiveModel>(row)) << row;
}

TEST(Collectives, TotalsFollowTheirFormulasForEverySizeAndRoot) {
  for (const CollectiveOp op : all_ops)
    for (std::uint32_t ranks = 1; ranks <= 17; ++ranks)
      for (std::uint32_t root = 0; root < (rooted(op) ? ranks : 1); ++root) {
        SCOPED_TRACE(::testing::Message() << to_string(op) << " of " << ranks << " from " << root);
        const auto check = [&](CollectiveModel model, Totals totals) {
          const CommGraph graph = expand(op, model, ranks, root);
          EXPECT_EQ(graph.total_bytes(), totals.blocks * block * calls) << static_cast<int>(model);
          EXPECT_EQ(graph.total_messages(), totals.messages * calls) << static_cast<int>(model);
        };
        check(CollectiveModel::none, {0, 0});
        check(CollectiveModel::logical, logical_totals(op, ranks));
        check(CollectiveModel::tree, tree_totals(op, ranks));
        check(CollectiveModel::flat, flat_totals(op, ranks));
      }
}

TEST(Collectives, ABroadcastReachesEveryMemberOnceAndAReductionLeavesItOnce) {
  for (const CollectiveModel model : {CollectiveModel::logical, CollectiveModel::tree, CollectiveModel::flat})
    for (std::uint32_t ranks = 2; ranks <= 17; ++ranks)
      for (std::uint32_t root = 0; root < ranks; ++root) {
        const CommGraph down = expand(CollectiveOp::bcast, model, ranks, root);
        const CommGraph up = expand(CollectiveOp::reduce, model, ranks, root);
        EXPECT_EQ(reachable_from(down, Rank{root}), ranks);
        const auto into = bytes_into(down);
        for (std::uint32_t r = 0; r < ranks; ++r) {
          EXPECT_EQ(into[r], r == root ? 0 : block * calls);
          EXPECT_EQ(bytes_from(up, Rank{r}), r == root ? 0 : block * calls);
        }
      }
}

TEST(Collectives, AGatherForwardsTheReceivedBlocksAndItsOwn) {
  for (std::uint32_t ranks = 2; ranks <= 17; ++ranks)
    for (std::uint32_t root = 0; root < ranks; ++root) {
      const CommGraph gather = expand(CollectiveOp::gather, CollectiveModel::tree, ranks, root);
      const CommGraph scatter = expand(CollectiveOp::scatter, CollectiveModel::tree, ranks, root);
      const auto gathered = bytes_into(gather);
      const auto scattered = bytes_into(scatter);
      EXPECT_EQ(gathered[root], (ranks - 1) * block * calls);
      for (std::uint32_t r = 0; r < ranks; ++r) {
        if (r == root) continue;
        EXPECT_EQ(bytes_from(gather, Rank{r}), gathered[r] + block * calls);
        EXPECT_EQ(scattered[r], bytes_from(scatter, Rank{r}) + block * calls);
      }
    }
}

TEST(Collectives, AllreduceAndAllgatherReachAllMembers) {
  for (const CollectiveOp op : {CollectiveOp::barrier, CollectiveOp::allreduce, CollectiveOp::allgather,
                                CollectiveOp::alltoall, CollectiveOp::reduce_scatter})
    for (const CollectiveModel model : {CollectiveModel::tree, CollectiveModel::flat})
      for (std::uint32_t ranks = 2; ranks <= 17; ++ranks) {
        const CommGraph graph = expand(op, model, ranks);
        for (const Rank r : graph.ranks()) EXPECT_EQ(reachable_from(graph, r), ranks) << to_string(op);
      }
}

TEST(Collectives, BinomialTreesNumberMembersFromTheRoot) {
  const CommGraph graph = expand(CollectiveOp::bcast, CollectiveModel::tree, 6, 4);
  EXPECT_THAT(graph.targets(Rank{4}), ElementsAre(Rank{0}, Rank{2}, Rank{5}));  // 2, 4 and 1 further on
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}));
  EXPECT_THAT(graph.targets(Rank{2}), ElementsAre(Rank{3}));
}

TEST(Collectives, RecursiveDoublingFoldsMembersAboveAPowerOfTwo) {
  const CommGraph graph = expand(CollectiveOp::allreduce, CollectiveModel::tree, 6);
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}));
  EXPECT_THAT(graph.targets(Rank{1}), ElementsAre(Rank{0}, Rank{3}, Rank{4}));
  EXPECT_THAT(graph.targets(Rank{5}), ElementsAre(Rank{3}, Rank{4}));
}

TEST(Collectives, ALogicalScanSendsOnlyToLaterMembers) {
  const CommGraph graph = expand(CollectiveOp::scan, CollectiveModel::logical, 4);
  EXPECT_THAT(graph.targets(Rank{1}), ElementsAre(Rank{2}, Rank{3}));
  EXPECT_EQ(graph.degree(Rank{3}), 0U);
}

TEST(Collectives, RootsAndMembersFollowTheOrderOfTheCommunicator) {
  Profile profile = silent_profile(8);
  profile.communicators.push_back({.name = "three", .members = {Rank{5}, Rank{2}, Rank{7}}});
  profile.collectives.push_back({.communicator = 1, .op = CollectiveOp::bcast, .root = 1, .bytes = block, .count = 1});
  profile.collectives.push_back({.communicator = 1, .op = CollectiveOp::allgather, .root = 0, .bytes = 1, .count = 1});
  const CommGraph graph = traffic(profile, CollectiveModel::tree);
  EXPECT_THAT(graph.targets(Rank{2}), ElementsAre(Rank{5}, Rank{7}));
  EXPECT_THAT(graph.bytes(Rank{2}), ElementsAre(block, block + 2));
  EXPECT_THAT(graph.targets(Rank{5}), ElementsAre(Rank{2}));
  EXPECT_THAT(graph.targets(Rank{7}), ElementsAre(Rank{5}));
  EXPECT_EQ(graph.edge_count(), 4U);
}

// NPB 3.3 FT, class W, 8 ranks, as a tracer decomposed its collectives: 8 all-to-alls of 128 KiB blocks, a barrier,
// two broadcasts of 16 bytes together and six reductions of 96.
TEST(Collectives, TheTreeModelEqualsTheMeasuredDecompositionOfFt) {
  Profile profile = silent_profile(8);
  profile.collectives = {{.op = CollectiveOp::alltoall, .bytes = 131072, .count = 8},
                         {.op = CollectiveOp::barrier, .bytes = 0, .count = 1},
                         {.op = CollectiveOp::bcast, .bytes = 8, .count = 2},
                         {.op = CollectiveOp::reduce, .bytes = 16, .count = 6}};
  const CommGraph graph = traffic(profile, CollectiveModel::tree);
  EXPECT_EQ(graph.total_bytes(), 58721040);
  EXPECT_EQ(graph.total_messages(), 528);
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(1048592, 1048592, 1048576, 1048592, 1048576, 1048576, 1048576));
  EXPECT_THAT(graph.messages(Rank{0}), ElementsAre(11, 11, 8, 11, 8, 8, 8));
  EXPECT_EQ(graph.bytes(Rank{1})[0], 1048672);
  EXPECT_EQ(graph.messages(Rank{1})[0], 14);
}

TEST(Collectives, EqualCallsAreSummedUp) {
  Profile once = silent_profile(9);
  once.collectives = {{.op = CollectiveOp::allgather, .bytes = 10, .count = 6}};
  Profile split = silent_profile(9);
  split.collectives = {{.op = CollectiveOp::allgather, .bytes = 20, .count = 2},
                       {.op = CollectiveOp::allgather, .bytes = 5, .count = 4}};
  for (const CollectiveModel model : {CollectiveModel::logical, CollectiveModel::tree, CollectiveModel::flat}) {
    const CommGraph a = traffic(once, model);
    const CommGraph b = traffic(split, model);
    EXPECT_EQ(a.rows().targets, b.rows().targets);
    EXPECT_EQ(a.rows().bytes, b.rows().bytes);
    EXPECT_EQ(a.rows().messages, b.rows().messages);
  }
}

TEST(Collectives, TreesOfAHundredThousandRanksStaySparse) {
  Profile profile = silent_profile(100'000);
  for (const CollectiveOp op :
       {CollectiveOp::barrier, CollectiveOp::bcast, CollectiveOp::gather, CollectiveOp::allreduce,
        CollectiveOp::allgather, CollectiveOp::reduce_scatter, CollectiveOp::scan})
    profile.collectives.push_back({.op = op, .bytes = 8, .count = 1});
  EXPECT_LT(traffic(std::move(profile), CollectiveModel::tree).edge_count(), 100'000U * 60U);
}

TEST(Collectives, AReduceScatterOfManyMembersIsARingWithTheBytesOfAPairwiseExchange) {
  const CommGraph pairwise = expand(CollectiveOp::reduce_scatter, CollectiveModel::tree, 16);
  const CommGraph ring = expand(CollectiveOp::reduce_scatter, CollectiveModel::tree, 17);
  EXPECT_EQ(pairwise.edge_count(), 16U * 15U);
  EXPECT_EQ(ring.edge_count(), 17U);
  EXPECT_EQ(bytes_from(pairwise, Rank{5}), 15 * block * calls);
  EXPECT_EQ(bytes_from(ring, Rank{5}), 16 * block * calls);
  EXPECT_EQ(ring.total_messages(), 17 * 16 * calls);
  EXPECT_THAT(ring.targets(Rank{16}), ElementsAre(Rank{0}));
}

TEST(Traffic, IsThePointToPointGraphItselfWhenThereIsNothingToAdd) {
  CommGraphBuilder builder(3);
  builder.add(Rank{0}, Rank{1}, 5);
  Profile profile = silent_profile(3);
  profile.point_to_point = std::move(builder).build(true);
  profile.collectives.push_back({.op = CollectiveOp::barrier, .bytes = 0, .count = 1});
  const Rank* const memory = profile.point_to_point.rows().targets.data();
  EXPECT_EQ(traffic(std::move(profile), CollectiveModel::none).rows().targets.data(), memory);
}

TEST(Traffic, RemovesSelfMessagesUnlessTheyCount) {
  for (const CollectiveModel model : {CollectiveModel::none, CollectiveModel::logical}) {
    Profile profile = silent_profile(2);
    CommGraphBuilder builder(2);
    builder.add(Rank{0}, Rank{0}, 7);
    builder.add(Rank{0}, Rank{1}, 5);
    profile.point_to_point = std::move(builder).build(true);
    profile.collectives.push_back({.op = CollectiveOp::reduce, .bytes = 3, .count = 1});
    const double collective = model == CollectiveModel::none ? 0 : 3;
    EXPECT_EQ(traffic(profile, model).total_bytes(), 5 + collective);
    profile.self_traffic_counts = true;
    EXPECT_EQ(traffic(profile, model).total_bytes(), 12 + collective);
  }
}

TEST(Traffic, CollectivesHaveNoSelfMessages) {
  Profile profile = silent_profile(6);
  profile.self_traffic_counts = true;
  profile.communicators.push_back({.name = "odd", .members = {Rank{5}, Rank{1}, Rank{3}}});
  for (const std::uint32_t communicator : {0U, 1U})
    for (const CollectiveOp op : all_ops)
      profile.collectives.push_back({.communicator = communicator, .op = op, .root = 0, .bytes = 1, .count = 1});
  for (const CollectiveModel model : {CollectiveModel::logical, CollectiveModel::tree, CollectiveModel::flat}) {
    const CommGraph graph = traffic(profile, model);
    for (const Rank r : graph.ranks()) EXPECT_THAT(graph.targets(r), ::testing::Not(::testing::Contains(r)));
  }
}

TEST(Traffic, AddsExpandedCollectivesUnlessTheModelIsNone) {
  Profile profile = silent_profile(3);
  CommGraphBuilder sent(3), expanded(3);
  sent.add(Rank{0}, Rank{1}, 5, 2);
  sent.set_loads({1, 2, 3});
  expanded.add(Rank{0}, Rank{1}, 10, 1);
  expanded.add(Rank{2}, Rank{1}, 1, 1);
  profile.point_to_point = std::move(sent).build(true);
  profile.expanded_collectives = std::move(expanded).build(true);
  EXPECT_EQ(traffic(profile, CollectiveModel::none).total_bytes(), 5);
  const CommGraph graph = traffic(profile, CollectiveModel::flat);
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(15));
  EXPECT_THAT(graph.messages(Rank{0}), ElementsAre(3));
  EXPECT_THAT(graph.targets(Rank{2}), ElementsAre(Rank{1}));
  EXPECT_THAT(graph.loads(), ElementsAre(1, 2, 3));
}

TEST(Traffic, CountsAnUndirectedEdgeOnceTogetherWithCollectives) {
  CommGraphBuilder builder(4);
  builder.add(Rank{0}, Rank{1}, 10);
  Profile profile = silent_profile(4);
  profile.point_to_point = std::move(builder).build(false, true);
  profile.collectives.push_back({.op = CollectiveOp::bcast, .bytes = 2, .count = 1});
  const CommGraph graph = traffic(std::move(profile), CollectiveModel::logical);
  EXPECT_EQ(graph.total_bytes(), 10 + 3 * 2);
  EXPECT_EQ(graph.total_messages(), 1 + 3);
}

TEST(Traffic, IsTheSameForAnyNumberOfThreads) {
  Profile profile = silent_profile(1000);
  for (std::uint32_t c = 0; c < 40; ++c) {
    std::vector<Rank> members;
    for (std::uint32_t m = 0; m < 100; ++m) members.push_back(Rank{(c * 37 + m * 7) % 1000});
    profile.communicators.push_back({.name = "", .members = std::move(members)});
    for (const CollectiveOp op : all_ops)
      profile.collectives.push_back({.communicator = c, .op = op, .root = 0, .bytes = 0.1 * (c + 1), .count = 3});
  }
  const auto with = [&](std::size_t threads) {
    const ThreadLimit limit(threads);
    return traffic(profile, CollectiveModel::tree);
  };
  const CommGraph one = with(1);
  const CommGraph four = with(4);
  EXPECT_EQ(one.rows().targets, four.rows().targets);
  EXPECT_EQ(one.rows().bytes, four.rows().bytes);
  EXPECT_EQ(one.rows().messages, four.rows().messages);
  EXPECT_GT(one.edge_count(), 100'000U);
}

TEST(Traffic, AnAllToAllThatExceedsTheMemoryIsAnError) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(4'000'000).build(true);
  profile.communicators.push_back({});
  profile.collectives.push_back({.communicator = 0, .op = CollectiveOp::alltoall, .root = 0, .bytes = 1, .count = 1});
  EXPECT_FALSE(check_traffic_fits(profile, CollectiveModel::tree));
  EXPECT_TRUE(check_traffic_fits(profile, CollectiveModel::none));
  profile.collectives[0].op = CollectiveOp::allreduce;
  EXPECT_TRUE(check_traffic_fits(profile, CollectiveModel::tree));
}

TEST(Traffic, AmountsWhoseSumCouldBeInfiniteAreAnError) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(64).build(true);
  profile.communicators.push_back({});
  profile.collectives.push_back(
      {.communicator = 0, .op = CollectiveOp::alltoall, .root = 0, .bytes = 1e60, .count = 1e40});
  EXPECT_TRUE(check_traffic_fits(profile, CollectiveModel::tree));
  profile.collectives[0].count = 1e60;
  ASSERT_FALSE(check_traffic_fits(profile, CollectiveModel::tree));
  EXPECT_EQ(check_traffic_fits(profile, CollectiveModel::tree).error().code, Code::bad_input);
  EXPECT_TRUE(check_traffic_fits(profile, CollectiveModel::none));
}

}  // namespace
}  // namespace rankloom
