// SPDX-License-Identifier: Apache-2.0
// tests: nodes for the jobs in the queue of a batch system.
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
    NodeRequest asked{count, Bitset(16)};
    for (std::uint32_t node = 0; node < 16; ++node) asked.usable.set(node);
    for (const std::uint32_t hole : holes) asked.usable.reset(hole);
    return asked;
  }

  Allocator allocator_;
};

TEST_F(View, ReturnsTheNodesOfThePolicy) {
  const std::vector<Node> left = nodes({0, 1, 4, 5});
  Occupancy occupancy(allocator_.machine());
  occupancy.add(make_allocation(allocator_.machine(), occupancy, left));
  const auto expected = allocate_nodes(allocator_, occupancy, policy("closed-best"), 6, {});
  const auto found = view({{left, 100}}).now(request(6));
  ASSERT_TRUE(found && expected);
  EXPECT_EQ(found->nodes, expected->nodes);
}

TEST_F(View, UsesNoNodeThatTheSchedulerDoesNotOffer) {
  const auto found = view({}).now(request(4, {0, 1, 2, 3, 4, 8, 12}));
  ASSERT_TRUE(found);
  for (const Node node : found->nodes) EXPECT_TRUE(request(4, {0, 1, 2, 3, 4, 8, 12}).usable.test(index(node)));
}

TEST_F(View, PlansForTheMomentWhenEnoughJobsHaveEnded) {
  // Columns 0 and 1 until 300 and 100, 2 until 200; column 3 is free.
  const std::vector<ScheduledJob> running{
      {nodes({0, 4, 8, 12}), 300}, {nodes({1, 5, 9, 13}), 100}, {nodes({2, 6, 10, 14}), 200}};
  EXPECT_FALSE(view(running).now(request(8)));
  const auto plan = view(running).later(request(8));
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->start, 200);
  EXPECT_EQ(plan->allocation.nodes.size(), 8U);
  EXPECT_TRUE(plan->allocation.isolated);
  for (const Node node : plan->allocation.nodes) EXPECT_NE(index(node) % 4, 0U);
}

TEST_F(View, PlansNoJobThatTheEmptyMachineCannotRun) {
  const std::vector<ScheduledJob> running{{nodes({0}), 10}};
  EXPECT_FALSE(view(running).later(request(16, {5})));
  EXPECT_FALSE(view(running).on_empty_machine(request(16, {5})));
  EXPECT_TRUE(view(running).on_empty_machine(request(16)));
}

TEST_F(View, DoesNotUseNodesReservedForAnotherJob) {
  SchedulerView reserved_view = view({});
  const Occupancy empty(allocator_.machine());
  reserved_view.reserve(make_allocation(allocator_.machine(), empty, nodes({5, 6, 9, 10})));
  EXPECT_FALSE(reserved_view.now(request(9)));
  const auto found = reserved_view.now(request(4));
  ASSERT_TRUE(found);
  for (const std::uint32_t node : {5, 6, 9, 10})
    EXPECT_FALSE(std::binary_search(found->nodes.begin(), found->nodes.end(), Node{node}));
}

TEST_F(View, ContainsTheRequiredNodes) {
  NodeRequest asked = request(4);
  asked.required = nodes({15});
  const auto found = view({{nodes({0, 1}), 10}}).now(asked);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->isolated);
  EXPECT_EQ(found->nodes.size(), 4U);
  EXPECT_EQ(found->nodes.back(), Node{15});
}

TEST_F(View, WaitsIfTheRequiredNodesConflictWithAnotherJob) {
  NodeRequest asked = request(2);
  asked.required = nodes({4, 12});  // the job below uses router 8 between them
  const SchedulerView busy = view({{nodes({8, 9}), 10}});
  EXPECT_FALSE(busy.now(asked));
  asked.allocation.fallback = Fallback::diameter;
  const auto found = busy.now(asked);
  ASSERT_TRUE(found);
  EXPECT_THAT(found->nodes, ElementsAre(Node{4}, Node{12}));
  asked.required = nodes({8});
  EXPECT_FALSE(busy.now(asked));  // node 8 is in use
}

TEST_F(View, PreemptsTheFirstJobsThatSuffice) {
  const std::vector<ScheduledJob> quarters{
      {nodes({0, 1, 4, 5}), 10}, {nodes({2, 3, 6, 7}), 20}, {nodes({8, 9, 12, 13}), 30}, {nodes({10, 11, 14, 15}), 40}};
  const std::vector<std::vector<Node>> last_first{quarters[3].nodes, quarters[0].nodes, quarters[1].nodes};
  EXPECT_FALSE(view(quarters).now(request(4)));
  const auto one = view(quarters).after_preemption(request(4), last_first);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->nodes, quarters[3].nodes);
  // The first two are not next to each other; with the third one there is a rectangle of two.
  const auto two = view(quarters).after_preemption(request(8), last_first);
  ASSERT_TRUE(two);
  EXPECT_EQ(two->nodes.size(), 8U);
  EXPECT_TRUE(two->isolated);
  for (const Node node : two->nodes) EXPECT_TRUE(index(node) < 8 || index(node) % 4 >= 2) << index(node);
  EXPECT_FALSE(view(quarters).after_preemption(request(16), last_first));
  EXPECT_FALSE(view(quarters).after_preemption(request(4), {}));
}

TEST_F(View, PreemptsNoJobThatHasNoneOfTheNodes) {
  NodeRequest asked = request(2);
  asked.required = nodes({4, 12});  // their messages pass router 8, but the scheduler does not end the job there
  const std::vector<std::vector<Node>> candidates{nodes({8, 9})};
  EXPECT_FALSE(view({{nodes({8, 9}), 10}}).after_preemption(asked, candidates));
  asked.required = nodes({4, 8});
  EXPECT_TRUE(view({{nodes({8, 9}), 10}}).after_preemption(asked, candidates));
}

TEST_F(View, AgreesWithAnAllocatorThatKeepsState) {
  Random random(7);
  std::vector<ScheduledJob> running;
  for (int step = 0; step < 300; ++step) {
    if (!running.empty() && random.below(2) == 0) {
      running.erase(running.begin() + static_cast<std::ptrdiff_t>(random.below(running.size())));
      continue;
    }
    Occupancy occupancy(allocator_.machine());
    for (const ScheduledJob& job : running) occupancy.add(make_allocation(allocator_.machine(), occupancy, job.nodes));
    const auto count = static_cast<std::uint32_t>(1 + random.below(9));
    const auto expected = allocate_nodes(allocator_, occupancy, policy("closed-best"), count, {});
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

TEST(FallbackFromComment, FindsTheRequestOfTheUser) {
  EXPECT_EQ(fallback_from_comment("rankloom:fallback=diameter"), Fallback::diameter);
  EXPECT_EQ(fallback_from_comment("my job, rankloom:fallback=closed; please"), Fallback::isolated);
  EXPECT_EQ(fallback_from_comment("rankloom:fallback=closed rankloom:fallback=wait"), Fallback::wait);
  EXPECT_EQ(fallback_from_comment("rankloom:fallback=sometimes"), std::nullopt);
  EXPECT_EQ(fallback_from_comment("fallback=diameter"), std::nullopt);
  EXPECT_EQ(fallback_from_comment(""), std::nullopt);
  EXPECT_EQ(profile_from_comment("rankloom:profile=/home/me/app.prof"), "/home/me/app.prof");
  EXPECT_EQ(profile_from_comment("run 3; rankloom:profile=a.prof,rankloom:profile=b.prof rankloom:fallback=wait"),
            "b.prof");
  EXPECT_EQ(profile_from_comment("profile=app.prof"), "");
}

TEST(StepRequests, NameAFile) {
  EXPECT_EQ(file_of_step_request("app.prof"), "app.prof");
  EXPECT_EQ(file_of_step_request("strict:map:dir/app.prof,budget=2s"), "dir/app.prof");
  EXPECT_EQ(file_of_step_request("off"), "");
  EXPECT_EQ(file_of_step_request(""), "");
}

}  // namespace
}  // namespace rankloom
