// SPDX-License-Identifier: Apache-2.0
// The messages of collectives in Open MPI and MPICH, against numbers that follow from the algorithms by hand.
#include <array>
#include <bit>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/model/graph/collective_steps.hpp"
#include "rankloom/model/graph/traffic_parts.hpp"

namespace rankloom {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;

Profile one_call(CollectiveOp op, std::uint32_t ranks, double bytes, std::uint32_t root = 0) {
  Profile profile;
  profile.point_to_point = CommGraphBuilder(ranks).build(true);
  profile.communicators.push_back({.name = "world", .members = {}});
  profile.collectives.push_back({.op = op, .root = root, .bytes = bytes, .count = 1});
  return profile;
}

CommGraph one_level(CollectiveOp op, CollectiveModel model, std::uint32_t ranks, double bytes, std::uint32_t root = 0) {
  return expand_collectives(one_call(op, ranks, bytes, root), model);
}

std::vector<double> sent(const CommGraph& graph) {
  std::vector<double> sums;
  for (const Rank rank : graph.ranks()) {
    const auto bytes = graph.bytes(rank);
    sums.push_back(std::accumulate(bytes.begin(), bytes.end(), 0.0));
  }
  return sums;
}

std::vector<double> received(const CommGraph& graph) {
  std::vector<double> sums(graph.rank_count(), 0.0);
  for (const Rank rank : graph.ranks())
    for (std::size_t at = 0; at < graph.degree(rank); ++at)
      sums[index(graph.targets(rank)[at])] += graph.bytes(rank)[at];
  return sums;
}

constexpr std::array libraries = {CollectiveModel::openmpi, CollectiveModel::mpich};
constexpr std::array byte_counts = {1.0, 100.0, 3000.0, 20e3, 100e3, 600e3, 5e6};

TEST(MpiLibraries, EveryMemberReceivesWhatItsOperationNeeds) {
  for (const CollectiveModel model : libraries) {
    for (std::uint32_t ranks = 2; ranks <= 80; ++ranks) {
      for (const double bytes : byte_counts) {
        SCOPED_TRACE(::testing::Message() << static_cast<int>(model) << ", " << ranks << " ranks, " << bytes);
        const double almost = bytes * (1 - 1e-9), others = ranks - 1.0;
        const std::uint32_t root = ranks / 3;
        const auto down = received(one_level(CollectiveOp::bcast, model, ranks, bytes, root));
        const auto scattered = one_level(CollectiveOp::scatter, model, ranks, bytes, root);
        const auto up = one_level(CollectiveOp::reduce, model, ranks, bytes, root);
        const auto gathered = received(one_level(CollectiveOp::gather, model, ranks, bytes, root));
        for (std::uint32_t rank = 0; rank < ranks; ++rank) {
          if (rank == root) continue;
          EXPECT_GE(down[rank], almost);
          EXPECT_NEAR(received(scattered)[rank] - sent(scattered)[rank], bytes, 1e-6 * bytes);
          EXPECT_GE(sent(up)[rank], bytes * (1 - 1.0 / std::bit_floor(ranks)) * (1 - 1e-9));
        }
        EXPECT_NEAR(gathered[root], others * bytes, 1e-6 * bytes);
        EXPECT_GE(received(up)[root], bytes * (1 - 1.0 / std::bit_floor(ranks)) * (1 - 1e-9));
        for (const double in : received(one_level(CollectiveOp::allgather, model, ranks, bytes)))
          EXPECT_NEAR(in, others * bytes, 1e-6 * ranks * bytes);
        for (const double in : received(one_level(CollectiveOp::alltoall, model, ranks, bytes)))
          EXPECT_GE(in, others * almost);
        for (const double in : received(one_level(CollectiveOp::allreduce, model, ranks, bytes)))
          EXPECT_GE(in, bytes * (1 - 1e-9));
        for (const double in : received(one_level(CollectiveOp::reduce_scatter, model, ranks, bytes)))
          EXPECT_GE(in, ranks == 2 ? almost : 0.99 * bytes);
      }
    }
  }
}

TEST(MpiLibraries, ALongAllreduceSendsTwiceTheVectorAndHalfOfItToTheNextMember) {
  constexpr double bytes = 1 << 20;
  for (const CollectiveModel model : libraries) {
    const CommGraph graph = one_level(CollectiveOp::allreduce, model, 16, bytes);
    EXPECT_THAT(sent(graph), Each(DoubleNear(2 * bytes * 15 / 16, 1)));
    EXPECT_THAT(graph.targets(Rank{5}), ElementsAre(Rank{1}, Rank{4}, Rank{7}, Rank{13}));
    EXPECT_THAT(graph.bytes(Rank{5}), ElementsAre(2 * bytes / 8, 2 * bytes / 2, 2 * bytes / 4, 2 * bytes / 16));
    EXPECT_THAT(graph.messages(Rank{5}), Each(2));
  }
}

TEST(MpiLibraries, MembersAboveAPowerOfTwoSendTheirVectorAndReceiveTheResult) {
  const CommGraph graph = one_level(CollectiveOp::allreduce, CollectiveModel::mpich, 5, 4000);
  EXPECT_THAT(graph.targets(Rank{1}), ElementsAre(Rank{0}));
  EXPECT_THAT(sent(graph), ElementsAre(2 * 3000 + 4000, 4000, 6000, 6000, 6000));
  EXPECT_THAT(received(graph), ElementsAre(2 * 3000 + 4000, 4000, 6000, 6000, 6000));
}

TEST(MpiLibraries, AShortAllreduceIsRecursiveDoubling) {
  for (const CollectiveModel model : libraries)
    EXPECT_THAT(sent(one_level(CollectiveOp::allreduce, model, 8, 8)), Each(3 * 8));
}

TEST(MpiLibraries, ALongReductionOfMpichEndsAtTheRoot) {
  // Halving sends 3/4 of the vector; the gather brings 1/4 from distance 2 and 2/4 from the neighbour.
  const CommGraph graph = one_level(CollectiveOp::reduce, CollectiveModel::mpich, 4, 4000, 1);
  EXPECT_THAT(sent(graph), ElementsAre(3000 + 2000 - 1000, 3000, 3000 + 2000, 3000 + 1000));
  EXPECT_THAT(received(graph), ElementsAre(3000, 3000 + 3000, 3000 + 1000, 3000));
}

TEST(MpiLibraries, ALongBroadcastOfMpichScattersAndGathersInARing) {
  const CommGraph graph = one_level(CollectiveOp::bcast, CollectiveModel::mpich, 16, 1 << 20);
  constexpr double block = (1 << 20) / 16.0;
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}, Rank{2}, Rank{4}, Rank{8}));
  EXPECT_THAT(graph.bytes(Rank{0}), ElementsAre(block + 15 * block, 2 * block, 4 * block, 8 * block));
  EXPECT_THAT(sent(graph)[15], 15 * block);
}

TEST(MpiLibraries, BruckSendsEveryBlockOnceForEachBitOfItsDistance) {
  for (const std::uint32_t ranks : {16U, 21U, 32U}) {
    double bits = 0;
    for (std::uint32_t distance = 1; distance < ranks; ++distance) bits += std::popcount(distance);
    const CommGraph graph = one_level(CollectiveOp::alltoall, CollectiveModel::openmpi, ranks, 64);
    EXPECT_THAT(sent(graph), Each(64 * bits));
    EXPECT_EQ(graph.degree(Rank{0}), static_cast<std::size_t>(std::bit_width(ranks - 1)));
    EXPECT_THAT(sent(one_level(CollectiveOp::alltoall, CollectiveModel::openmpi, ranks, 64e3)),
                Each(64e3 * (ranks - 1)));
  }
}

TEST(MpiLibraries, OpenMpiSendsLongAllgathersToBothNeighbours) {
  const CommGraph graph = one_level(CollectiveOp::allgather, CollectiveModel::openmpi, 40, 4000);
  EXPECT_THAT(graph.targets(Rank{3}), ElementsAre(Rank{2}, Rank{4}));
  EXPECT_THAT(graph.bytes(Rank{3}), ElementsAre(19.5 * 4000, 19.5 * 4000));
  EXPECT_THAT(one_level(CollectiveOp::allgather, CollectiveModel::openmpi, 41, 4000).targets(Rank{3}),
              ElementsAre(Rank{4}));
}

TEST(MpiLibraries, KNomialTreesHaveThreeChildrenPerLevel) {
  const CommGraph graph = one_level(CollectiveOp::bcast, CollectiveModel::openmpi, 70, 100e3);
  EXPECT_THAT(graph.targets(Rank{0}), ElementsAre(Rank{1}, Rank{2}, Rank{3}, Rank{4}, Rank{8}, Rank{12}, Rank{16},
                                                  Rank{32}, Rank{48}, Rank{64}));
  EXPECT_THAT(graph.targets(Rank{4}), ElementsAre(Rank{5}, Rank{6}, Rank{7}));
  EXPECT_EQ(graph.degree(Rank{5}), 0U);
  EXPECT_EQ(graph.edge_count(), 69U);
}

TEST(MpiLibraries, TheModelFollowsTheRecordedLibrary) {
  Profile profile;
  const auto model_of = [&](const char* library) {
    profile.origin["mpi"] = library;
    return collective_model(CollectiveModel::automatic, profile);
  };
  EXPECT_EQ(collective_model(CollectiveModel::automatic, profile), CollectiveModel::tree) << "not recorded";
  EXPECT_EQ(model_of("Open MPI v4.1.4, package: Debian OpenMPI"), CollectiveModel::openmpi);
  EXPECT_EQ(model_of("Open MPI v5.0.7, package: Debian OpenMPI"), CollectiveModel::openmpi5);
  EXPECT_EQ(model_of("MPICH Version:      4.0.2"), CollectiveModel::mpich);
  EXPECT_EQ(model_of("Intel(R) MPI Library 2021.9 for Linux* OS"), CollectiveModel::tree);
  EXPECT_EQ(collective_model(CollectiveModel::flat, profile), CollectiveModel::flat);
}

}  // namespace
}  // namespace rankloom
