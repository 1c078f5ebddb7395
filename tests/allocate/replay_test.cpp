// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>

#include <gtest/gtest.h>

#include "rankloom/allocate/workload/workload_replay.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;

Workload jobs(std::vector<WorkloadJob> list) {
  Workload workload;
  workload.name = "by hand";
  workload.jobs = std::move(list);
  return workload;
}

ReplayResult run(const Allocator& allocator, std::string_view policy, const Workload& workload, ReplayOptions options) {
  auto result = replay(allocator, **find_policy(policy), workload, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return *result;
}

const Allocator& mesh_4x4() {
  static const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  return allocator;
}

// A long job on half of the machine, a job on the whole machine, then a job on the other half that ends before the
// first.
TEST(Replay, StartsJobsInOrderWithFcfs) {
  const auto list = jobs({{1, 0, 100, 100, 8}, {2, 1, 50, 50, 16}, {3, 2, 60, 60, 8}});
  const auto result = run(mesh_4x4(), "closed-best", list, {.queue = Queue::fcfs, .allocation = {}});
  EXPECT_EQ(result.jobs, 3);
  EXPECT_DOUBLE_EQ(result.makespan, 210);  // 100 + 50 + 60
  EXPECT_DOUBLE_EQ(result.mean_wait, (0 + 99 + 148) / 3.0);
  EXPECT_DOUBLE_EQ(result.utilisation, (8 * 100 + 16 * 50 + 8 * 60) / (16 * 210.0));
}

TEST(Replay, LetsShortJobsOvertakeWithBackfilling) {
  const auto list = jobs({{1, 0, 100, 100, 8}, {2, 1, 50, 50, 16}, {3, 2, 60, 60, 8}});
  for (const Queue queue : {Queue::easy, Queue::conservative}) {
    const auto result = run(mesh_4x4(), "closed-best", list, {.queue = queue, .allocation = {}});
    EXPECT_DOUBLE_EQ(result.makespan, 150) << name_of(queue);
    EXPECT_DOUBLE_EQ(result.mean_wait, 99 / 3.0) << name_of(queue);
  }
}

TEST(Replay, BackfillingDoesNotDelayTheFirstJob) {
  const auto list = jobs({{1, 0, 100, 100, 8}, {2, 1, 50, 50, 16}, {3, 2, 200, 200, 8}});
  for (const Queue queue : {Queue::easy, Queue::conservative}) {
    const auto result = run(mesh_4x4(), "closed-best", list, {.queue = queue, .allocation = {}});
    EXPECT_DOUBLE_EQ(result.makespan, 350) << name_of(queue);  // the third after the second
  }
}

// Two jobs share one half of the machine; one runs until 100, the other until 1000. At 100 there are 12 free nodes, but
// they do not form a box. A reservation by number of nodes would start the third job at 100, and the fourth job would
// delay it. With a reservation of specific nodes the third job starts at 1000, and the fourth job can run before.
TEST(Replay, ReservesSpecificNodesNotANumberOfNodes) {
  const auto list = jobs({{1, 0, 100, 100, 4}, {2, 0, 1000, 1000, 4}, {3, 1, 50, 50, 12}, {4, 2, 500, 500, 8}});
  const auto by_shape = run(mesh_4x4(), "closed-best", list, {.queue = Queue::easy, .allocation = {}});
  EXPECT_DOUBLE_EQ(by_shape.mean_wait, (0 + 0 + 999 + 0) / 4.0);
  const auto by_number = run(mesh_4x4(), "first-fit", list, {.queue = Queue::easy, .allocation = {}});
  EXPECT_DOUBLE_EQ(by_number.mean_wait, (0 + 0 + 99 + 148) / 4.0);
}

/// The start of each job, in order of the numbers.
std::vector<double> starts(const ReplayResult& result) {
  std::vector<double> times(result.job_list.size());
  for (const ReplayedJob& job : result.job_list) times[job.number - 1] = job.start;
  return times;
}

ReplayOptions with_headroom(Queue queue, double share) {
  ReplayOptions options{.queue = queue, .verify = true, .keep_jobs = true, .allocation = {}};
  options.headroom = {.share = share, .max_nodes = 16, .short_seconds = 100};
  return options;
}

TEST(Headroom, GrowsWithTheJobUpToAShareOfTheMachineOrANumberOfNodes) {
  const Headroom headroom{.share = 0.25, .max_nodes = 12, .short_seconds = 100};
  EXPECT_EQ(headroom.nodes(16, 100), 0U);
  EXPECT_EQ(headroom.nodes(16, 200), 2U);
  EXPECT_EQ(headroom.nodes(16, 1e9), 4U);
  EXPECT_EQ(headroom.nodes(1024, 200), 6U);
  EXPECT_EQ(headroom.nodes(1024, 1e9), 12U);
  EXPECT_EQ((Headroom{.share = 0}).nodes(1024, 1e9), 0U);
  EXPECT_EQ(Headroom{}.nodes(100, 1e9), 5U);  // the default: a twentieth
}

// The first job in the queue needs the whole machine. The second one would take the last eight nodes for as long as the
// running one, and leaves headroom instead. The third one, which is short, does not wait.
TEST(Replay, LongJobsOfClosedFitThatOvertakeLeaveHeadroomForShortOnes) {
  const auto list = jobs({{1, 0, 1000, 1000, 8}, {2, 1, 2000, 2000, 16}, {3, 2, 900, 900, 8}, {4, 3, 90, 90, 4}});
  for (const Queue queue : {Queue::easy, Queue::conservative}) {
    SCOPED_TRACE(name_of(queue));
    const auto none = starts(run(mesh_4x4(), "closed-fit", list, with_headroom(queue, 0)));
    EXPECT_EQ(none, (std::vector<double>{0, 1000, 2, 902}));
    EXPECT_EQ(starts(run(mesh_4x4(), "closed-fit", list, with_headroom(queue, 0.25))),
              (std::vector<double>{0, 1000, 3000, 3}));
    EXPECT_EQ(starts(run(mesh_4x4(), "closed-best", list, with_headroom(queue, 0.25))), none);
  }
  // No job overtakes.
  EXPECT_EQ(starts(run(mesh_4x4(), "closed-fit", list, with_headroom(Queue::fcfs, 0.25))),
            starts(run(mesh_4x4(), "closed-fit", list, with_headroom(Queue::fcfs, 0))));
}

// The second job needs the whole machine. The fourth one has a reservation for 502, when the third one ends and
// headroom remains. It keeps it although a short job then runs on the headroom.
TEST(Replay, HeadroomDoesNotDelayAReservation) {
  const auto list = jobs(
      {{1, 0, 5000, 5000, 8}, {2, 1, 900, 900, 16}, {3, 2, 500, 500, 4}, {4, 3, 600, 600, 4}, {5, 450, 90, 90, 4}});
  const auto result = run(mesh_4x4(), "closed-fit", list, with_headroom(Queue::conservative, 0.25));
  EXPECT_EQ(starts(result), (std::vector<double>{0, 5000, 2, 502, 450}));
  EXPECT_EQ(result.conflicts, 0);
}

// No job waits forever, whatever its size and the headroom.
TEST(Replay, EveryJobRunsWithHeadroom) {
  const auto made = lublin_workload({.jobs = 150, .nodes = 16, .seed = 9});
  for (const Queue queue : {Queue::fcfs, Queue::easy, Queue::conservative}) {
    for (const double share : {0.1, 0.25, 0.5}) {
      ReplayOptions options = with_headroom(queue, share);
      options.load = 1;
      const auto result = run(mesh_4x4(), "closed-fit", *made, options);
      EXPECT_EQ(result.jobs, 150) << name_of(queue) << " " << share;
      EXPECT_EQ(result.conflicts, 0);
    }
  }
}

TEST(Replay, ScalesArrivalsToTheLoad) {
  const auto made = lublin_workload({.jobs = 300, .nodes = 16});
  const auto result = run(mesh_4x4(), "first-fit", *made, {.queue = Queue::easy, .load = 2, .allocation = {}});
  double work = 0;
  for (const WorkloadJob& job : made->jobs) work += static_cast<double>(job.tasks) * job.run;
  EXPECT_NEAR(result.utilisation, work / (16 * result.makespan), 1e-9);
  EXPECT_GT(result.utilisation, 0.75);
}

TEST(Replay, OnlyIsolatedJobsNeverConflict) {
  const auto made = lublin_workload({.jobs = 400, .nodes = 16, .seed = 3});
  for (const Queue queue : {Queue::fcfs, Queue::easy, Queue::conservative}) {
    for (const PolicyInfo& policy : policies()) {
      ReplayOptions options{.queue = queue, .load = 1, .jobs = 150, .verify = true, .allocation = {}};
      const auto result = run(mesh_4x4(), policy.name, *made, options);
      EXPECT_EQ(result.jobs, 150) << policy.name;
      EXPECT_EQ(result.conflicts == 0, result.jobs_with_conflict == 0) << policy.name;
      if (policy.isolated) {
        EXPECT_EQ(result.conflicts, 0) << policy.name;
      }
      if (policy.name == "sequential") {
        EXPECT_LT(result.contention_free(), 0.9);
      }
    }
  }
}

TEST(Replay, ListsJobsThatNeverShareANode) {
  auto made = lublin_workload({.jobs = 200, .nodes = 16, .seed = 3});
  ASSERT_TRUE(made);
  const auto result = run(mesh_4x4(), "first-fit", *made, {.load = 1, .keep_jobs = true, .allocation = {}});
  ASSERT_EQ(result.job_list.size(), result.jobs);
  std::uint64_t jobs_with_conflict = 0;
  for (std::size_t i = 0; i < result.job_list.size(); ++i) {
    const ReplayedJob& job = result.job_list[i];
    EXPECT_LE(job.submit, job.start);
    EXPECT_LT(job.start, job.end);
    EXPECT_TRUE(std::is_sorted(job.nodes.begin(), job.nodes.end()));
    jobs_with_conflict += job.had_conflict ? 1 : 0;
    for (std::size_t j = 0; j < i; ++j) {
      const ReplayedJob& other = result.job_list[j];
      EXPECT_LE(other.start, job.start);
      if (other.end <= job.start) continue;
      std::vector<Node> both;
      std::set_intersection(job.nodes.begin(), job.nodes.end(), other.nodes.begin(), other.nodes.end(),
                            std::back_inserter(both));
      EXPECT_TRUE(both.empty()) << job.number << " and " << other.number;
    }
  }
  EXPECT_EQ(jobs_with_conflict, result.jobs_with_conflict);
  EXPECT_GT(jobs_with_conflict, 0);
}

TEST(Replay, IsDeterministic) {
  const auto made = lublin_workload({.jobs = 300, .nodes = 16});
  const ReplayOptions options{.load = 1, .allocation = {}};
  const auto first = run(mesh_4x4(), "closed-best", *made, options),
             second = run(mesh_4x4(), "closed-best", *made, options);
  EXPECT_EQ(first.utilisation, second.utilisation);
  EXPECT_EQ(first.mean_wait, second.mean_wait);
  EXPECT_EQ(first.decisions, second.decisions);
}

TEST(Replay, LeavesOutJobsThatAreTooLarge) {
  const auto result =
      run(mesh_4x4(), "closed-best", jobs({{1, 0, 10, 10, 17}, {2, 0, 10, 10, 16}}), {.allocation = {}});
  EXPECT_EQ(result.too_large, 1);
  EXPECT_EQ(result.jobs, 1);
  EXPECT_FALSE(replay(mesh_4x4(), **find_policy("closed-best"), jobs({{1, 0, 10, 10, 17}}), {}));
}

TEST(Replay, CountsNodesNotTasks) {
  const Allocator allocator(allocation_machine("mesh:2x2 core:8", Exclusive::routers));
  const auto result = run(allocator, "closed-best", jobs({{1, 0, 10, 10, 9}}), {.allocation = {}});
  EXPECT_DOUBLE_EQ(result.utilisation, 0.5);  // two of four nodes
}

}  // namespace
}  // namespace rankloom
