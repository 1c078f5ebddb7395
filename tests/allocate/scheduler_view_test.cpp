// SPDX-License-Identifier: Apache-2.0
// tests: nodes for the jobs of somebody else's queue.
#include "rankloom/allocate/scheduler/scheduler_view.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

class View : public ::testing::Test {
 protected:
  View() : allocator_(testing::allocation_machine("mesh:4x4 core:1", Exclusive::routers)) {}

  SchedulerView view(std::vector<ScheduledJob> running) const { return {allocator_, policy("closed-best"), running}; }
  static const PolicyInfo& policy(std::string_view name) { return **find_policy(name); }

  static std::vector<Node> nodes(std::initializer_list<std::uint32_t> numbers) {
    std::vector<Node> all;
    for (const std::uint32_t number : numbers) all.push_back(Node{number});
    return all;
  }

  static NodeRequest request(std::uint32_t count, std::initializer_list<std::uint32_t> holes = {}) {
    NodeRequest asked{count, Bits(16)};
    for (std::uint32_t node = 0; node < 16; ++node) asked.usable.set(node);
    for (const std::uint32_t hole : holes) asked.usable.reset(hole);
    return asked;
  }

  Allocator allocator_;
};

TEST_F(View, GivesWhatThePolicyGives) {
  const std::vector<Node> left = nodes({0, 1, 4, 5});
  Occupancy occupancy(allocator_.machine());
  occupancy.add(describe(allocator_.machine(), occupancy, left));
  const auto expected = place(allocator_, occupancy, policy("closed-best"), 6, {});
  const auto found = view({{left, 100}}).now(request(6));
  ASSERT_TRUE(found && expected);
  EXPECT_EQ(found->nodes, expected->nodes);
}

TEST_F(View, UsesNoNodeThatTheSchedulerDoesNotOffer) {
  const auto found = view({}).now(request(4, {0, 1, 2, 3, 4, 8, 12}));
  ASSERT_TRUE(found);
  for (const Node node : found->nodes) EXPECT_TRUE(request(4, {0, 1, 2, 3, 4, 8, 12}).usable.test(index(node)));
}

TEST_F(View, PlansForTheMomentWhenEnoughHasEnded) {
  // Columns 0 and 1 until 300 and 100, 2 until 200; column 3 is free.
  const std::vector<ScheduledJob> running{
      {nodes({0, 4, 8, 12}), 300}, {nodes({1, 5, 9, 13}), 100}, {nodes({2, 6, 10, 14}), 200}};
  EXPECT_FALSE(view(running).now(request(8)));
  const auto plan = view(running).later(request(8));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->start, 200);
  EXPECT_EQ(plan->allotment.nodes.size(), 8U);
  EXPECT_TRUE(plan->allotment.closed);
  for (const Node node : plan->allotment.nodes) EXPECT_NE(index(node) % 4, 0U);
}

TEST_F(View, PlansNothingThatTheEmptyMachineCannotHold) {
  const std::vector<ScheduledJob> running{{nodes({0}), 10}};
  EXPECT_FALSE(view(running).later(request(16, {5})));
  EXPECT_FALSE(view(running).ever(request(16, {5})));
  EXPECT_TRUE(view(running).ever(request(16)));
}

TEST_F(View, KeepsAShapeFreeForAnother) {
  SchedulerView beside = view({});
  const Occupancy empty(allocator_.machine());
  beside.keep_for_another(describe(allocator_.machine(), empty, nodes({5, 6, 9, 10})));
  EXPECT_FALSE(beside.now(request(9)));
  const auto found = beside.now(request(4));
  ASSERT_TRUE(found);
  for (const std::uint32_t node : {5, 6, 9, 10})
    EXPECT_FALSE(std::binary_search(found->nodes.begin(), found->nodes.end(), Node{node}));
}

TEST_F(View, HoldsTheNodesThatTheJobInsistsOn) {
  NodeRequest asked = request(4);
  asked.required = nodes({15});
  const auto found = view({{nodes({0, 1}), 10}}).now(asked);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->closed);
  EXPECT_EQ(found->nodes.size(), 4U);
  EXPECT_EQ(found->nodes.back(), Node{15});
}

TEST_F(View, WaitsWhenTheNodesThatItInsistsOnMeetAnother) {
  NodeRequest asked = request(2);
  asked.required = nodes({4, 12});  // 8, between them, is passed by the job below
  const SchedulerView busy = view({{nodes({8, 9}), 10}});
  EXPECT_FALSE(busy.now(asked));
  asked.place.fallback = Fallback::diameter;
  const auto found = busy.now(asked);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->nodes, ElementsAre(Node{4}, Node{12}));
  asked.required = nodes({8});
  EXPECT_FALSE(busy.now(asked));  // taken
}

TEST_F(View, FollowsRandomQueuesAsAnAllocatorThatRemembersDoes) {
  Random random(7);
  std::vector<ScheduledJob> running;
  for (int step = 0; step < 300; ++step) {
    if (!running.empty() && random.below(2) == 0) {
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size())));
      continue;
    }
    Occupancy occupancy(allocator_.machine());
    for (const ScheduledJob& job : running) occupancy.add(describe(allocator_.machine(), occupancy, job.nodes));
    const auto count = static_cast<std::uint32_t>(1 + random.below(9));
    const auto expected = place(allocator_, occupancy, policy("closed-best"), count, {});
    const auto found = view(running).now(request(count));
    ASSERT_EQ(found.has_value(), expected.has_value()) << step;
    if (!found) {
      const auto plan = view(running).later(request(count));
      ASSERT_TRUE(plan) << step;
      continue;
    }
    ASSERT_EQ(found->nodes, expected->nodes) << step;
    running.push_back({found->nodes, static_cast<double>(random.below(1000))});
  }
}

TEST(FallbackIn, FindsTheUsersWord) {
  EXPECT_EQ(fallback_in("rankloom:fallback=diameter"), Fallback::diameter);
  EXPECT_EQ(fallback_in("my job, rankloom:fallback=closed; please"), Fallback::closed);
  EXPECT_EQ(fallback_in("rankloom:fallback=closed rankloom:fallback=wait"), Fallback::wait);
  EXPECT_EQ(fallback_in("rankloom:fallback=sometimes"), std::nullopt);
  EXPECT_EQ(fallback_in("fallback=diameter"), std::nullopt);
  EXPECT_EQ(fallback_in(""), std::nullopt);
}

}  // namespace
}  // namespace rankloom
