// SPDX-License-Identifier: Apache-2.0
// tests: why a job of a batch system waits.
#include "rankloom/allocate/scheduler/waiting_reason.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Kind = WaitingReason::Kind;

ScheduledJob ends_at(double end, std::initializer_list<std::uint32_t> nodes) {
  ScheduledJob job{{}, end};
  for (const std::uint32_t node : nodes) job.nodes.push_back(Node{node});
  return job;
}

class Waiting : public ::testing::Test {
 protected:
  Waiting() : allocator_(testing::allocation_machine("mesh:4x4 core:1", Exclusive::routers)) {}

  WaitingReason reason(const std::vector<ScheduledJob>& running, std::uint32_t nodes,
                       std::initializer_list<std::uint32_t> holes = {}) const {
    NodeRequest request{nodes, Bitset(16)};
    for (std::uint32_t node = 0; node < 16; ++node) request.usable.set(node);
    for (const std::uint32_t hole : holes) request.usable.reset(hole);
    return why_waiting(allocator_, **find_policy("closed-best"), running, request);
  }

  Allocator allocator_;
};

TEST_F(Waiting, AJobThatCanStartWaitsForAnotherReason) {
  const auto found = reason({ends_at(100, {0, 1, 4, 5})}, 4);
  EXPECT_EQ(found.kind, Kind::can_start);
  EXPECT_EQ(found.free_nodes, 12U);
  ASSERT_TRUE(found.allocation);
  EXPECT_EQ(found.allocation->nodes.size(), 4U);
}

TEST_F(Waiting, FewNodesAreFree) {
  const auto found = reason({ends_at(100, {0, 1, 2, 3, 4, 5, 6, 7}), ends_at(200, {8, 9, 10, 11})}, 8, {15});
  EXPECT_EQ(found.kind, Kind::few_nodes);
  EXPECT_EQ(found.free_nodes, 3U);
  EXPECT_EQ(found.start, 100);
  EXPECT_THAT(found.blockers, ElementsAre(0U)) << "7 nodes would be free without the other job";
}

TEST_F(Waiting, FreeNodesAreNotIsolated) {
  // One node in the middle of each half: no box of 8 nodes is free, although 14 nodes are.
  const auto found = reason({ends_at(300, {5}), ends_at(100, {10})}, 8);
  EXPECT_EQ(found.kind, Kind::not_isolated);
  EXPECT_EQ(found.free_nodes, 14U);
  EXPECT_EQ(found.start, 100);
  EXPECT_THAT(found.blockers, ElementsAre(1U, 0U)) << "either of them, the one that ends first at the beginning";
}

TEST_F(Waiting, AJobThatNeverFits) {
  const auto found = reason({ends_at(100, {0})}, 16, {5});
  EXPECT_EQ(found.kind, Kind::does_not_fit);
  EXPECT_FALSE(found.allocation);
  EXPECT_THAT(found.blockers, IsEmpty());
}

TEST_F(Waiting, SeveralJobsTogetherHaveNoSingleBlocker) {
  // All four quarters are in use; 12 nodes need three of them.
  const auto found = reason({ends_at(400, {0, 1, 4, 5}), ends_at(100, {2, 3, 6, 7}), ends_at(200, {8, 9, 12, 13}),
                             ends_at(300, {10, 11, 14, 15})},
                            12);
  EXPECT_EQ(found.kind, Kind::few_nodes);
  EXPECT_THAT(found.blockers, IsEmpty());
  EXPECT_EQ(found.start, 400) << "three quarters do not form a box";
}

}  // namespace
}  // namespace rankloom
