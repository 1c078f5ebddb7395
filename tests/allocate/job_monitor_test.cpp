// SPDX-License-Identifier: Apache-2.0
// tests: the running jobs of a batch system without a plugin, and what a policy would have chosen.
#include "rankloom/allocate/scheduler/job_monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

RunningJob job_on(std::string name, std::initializer_list<std::uint32_t> nodes) {
  RunningJob job{std::move(name), {}};
  for (const std::uint32_t node : nodes) job.nodes.push_back(Node{node});
  return job;
}

class Monitor : public ::testing::Test {
 protected:
  Monitor() : allocator_(testing::allocation_machine("mesh:4x4 core:1", Exclusive::routers)) {}

  JobMonitor monitor() const { return {allocator_, **find_policy("closed-best"), {}}; }

  Allocator allocator_;
};

TEST_F(Monitor, CountsTheRoutersThatJobsShare) {
  // The messages between nodes 0 and 3 pass 1 and 2, where job b is.
  const std::vector<RunningJob> jobs{job_on("a", {0, 3}), job_on("b", {1, 2}), job_on("c", {12})};
  const JobSnapshot snapshot = monitor().observe(jobs);
  ASSERT_EQ(snapshot.jobs.size(), 3U);
  EXPECT_EQ(snapshot.nodes_in_use, 5U);
  EXPECT_EQ(snapshot.sharing_jobs(), 2U);
  EXPECT_EQ(snapshot.shared_resources, 2U);
  EXPECT_EQ(snapshot.jobs[0].resources, 4U);
  EXPECT_EQ(snapshot.jobs[0].shared_resources, 2U);
  EXPECT_EQ(snapshot.jobs[1].shared_resources, 2U);
  EXPECT_EQ(snapshot.jobs[2].shared_resources, 0U);
  EXPECT_EQ(snapshot.busiest, 1U);
  EXPECT_THAT(snapshot.jobs_on_busiest, ElementsAre("a", "b"));
  EXPECT_EQ(snapshot.isolated_by_policy(), 3U);
  EXPECT_EQ(snapshot.waiting_by_policy(), 0U);
}

TEST_F(Monitor, AgreesWithTheVerifierOnEveryNetwork) {
  Random random(3);
  for (const std::string& network : testing::networks_of_every_kind()) {
    for (const Exclusive exclusive : {Exclusive::routers, Exclusive::links}) {
      SCOPED_TRACE(network);
      const Allocator allocator(testing::allocation_machine(network, exclusive));
      JobMonitor jobs_monitor(allocator, **find_policy("closed-best"), {});
      const std::uint32_t nodes = allocator.machine().node_count();
      for (int round = 0; round < 5; ++round) {
        // Disjoint jobs on random nodes.
        auto order = testing::random_nodes(random, nodes, nodes);
        random.shuffle(std::span(order));
        std::vector<RunningJob> jobs;
        for (std::size_t at = 0; at < order.size();) {
          const std::size_t size = std::min<std::size_t>(1 + random.below(4), order.size() - at);
          RunningJob job{std::to_string(jobs.size()), {order.begin() + at, order.begin() + at + size}};
          std::sort(job.nodes.begin(), job.nodes.end());
          jobs.push_back(std::move(job));
          at += size;
        }
        std::vector<std::string> expected, found;
        for (const Conflict& conflict : verify(allocator.machine().network(), exclusive, jobs)) {
          expected.push_back(conflict.first_job);
          expected.push_back(conflict.second_job);
        }
        for (const auto& job : jobs_monitor.observe(jobs).jobs) {
          if (job.shared_resources > 0) found.push_back(job.name);
        }
        std::sort(expected.begin(), expected.end());
        expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
        std::sort(found.begin(), found.end());
        EXPECT_EQ(found, expected);
      }
    }
  }
}

TEST_F(Monitor, ThePolicyKeepsItsNodesUntilTheJobEnds) {
  JobMonitor jobs_monitor = monitor();
  const auto first = jobs_monitor.observe(std::vector{job_on("a", {5, 6, 9, 10})});
  ASSERT_EQ(first.jobs[0].chosen.size(), 4U);
  const auto second = jobs_monitor.observe(std::vector{job_on("b", {0, 1}), job_on("a", {5, 6, 9, 10})});
  EXPECT_EQ(second.jobs[1].chosen, first.jobs[0].chosen);
  for (const Node node : second.jobs[0].chosen)
    EXPECT_THAT(first.jobs[0].chosen, ::testing::Not(::testing::Contains(node)));
  const auto third = jobs_monitor.observe(std::vector{job_on("c", {3, 7, 11, 15})});
  EXPECT_EQ(third.jobs[0].chosen, first.jobs[0].chosen) << "the nodes of a are free again";
}

TEST_F(Monitor, AJobWaitsUntilThePolicyHasNodesForIt) {
  JobMonitor jobs_monitor = monitor();
  const RunningJob large = job_on("large", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), small = job_on("small", {12, 13});
  const RunningJob waiting = job_on("waiting", {14, 15});
  jobs_monitor.observe(std::vector{small});
  // The policy has put the small job into a corner, which leaves no box of 12 nodes.
  const auto full = jobs_monitor.observe(std::vector{small, large, waiting});
  const auto later = jobs_monitor.observe(std::vector{large});
  EXPECT_EQ(full.waiting_by_policy() + full.isolated_by_policy(), 3U);
  EXPECT_EQ(later.isolated_by_policy(), 1U);
  EXPECT_EQ(later.jobs[0].chosen.size(), 12U);
}

}  // namespace
}  // namespace rankloom
