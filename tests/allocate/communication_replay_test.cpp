// SPDX-License-Identifier: Apache-2.0
// tests: replays in which run times depend on the nodes of jobs, and workloads with communication patterns.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "rankloom/allocate/workload/moldable_jobs.hpp"
#include "rankloom/allocate/workload/shared_channels.hpp"
#include "rankloom/allocate/workload/workload_replay.hpp"
#include "tests/allocate/allocate_support.hpp"

namespace rankloom {
namespace {

using testing::allocation_machine;

PlacedCommunication on_channels(double seconds, std::vector<std::uint32_t> channels) {
  PlacedCommunication placed{seconds, seconds, {}};
  for (const std::uint32_t channel : channels) placed.uses.push_back({channel, seconds});
  return placed;
}

TEST(SharedChannels, AJobAloneIsNotSlowed) {
  SharedChannels channels(4);
  EXPECT_TRUE(channels.add(0, on_channels(2, {0, 1}), 3).empty());
  EXPECT_TRUE(channels.add(1, on_channels(2, {2, 3}), 3).empty());
  EXPECT_DOUBLE_EQ(channels.seconds(0), 2);
}

// Each job keeps the channel busy for 2 s of 5 s, so 60 % are left for the other one.
TEST(SharedChannels, OtherJobsTakeTheirPartOfAChannel) {
  SharedChannels channels(4);
  channels.add(0, on_channels(2, {0, 1}), 3);
  EXPECT_EQ(channels.add(1, on_channels(2, {1, 2}), 3), std::vector<std::uint32_t>{0});
  EXPECT_DOUBLE_EQ(channels.seconds(0), 2 / 0.6);
  EXPECT_DOUBLE_EQ(channels.seconds(1), 2 / 0.6);
  EXPECT_EQ(channels.remove(0), std::vector<std::uint32_t>{1});
  EXPECT_DOUBLE_EQ(channels.seconds(1), 2);
}

TEST(SharedChannels, AJobKeepsItsFairShare) {
  SharedChannels channels(1);
  for (std::uint32_t job = 0; job < 4; ++job) channels.add(job, on_channels(9, {0}), 1);
  EXPECT_DOUBLE_EQ(channels.seconds(0), 36);
}

TEST(SharedChannels, LatenciesAreNotSlowed) {
  SharedChannels channels(1);
  PlacedCommunication placed = on_channels(2, {0});
  placed.seconds = 5;
  channels.add(0, placed, 5);
  channels.add(1, on_channels(5, {0}), 5);
  EXPECT_DOUBLE_EQ(channels.seconds(0), 3 + 2 / 0.5);
}

/// One channel per group of four nodes: a job uses the channels of its nodes for `seconds`, whatever its pattern.
class ChannelsOfNodes final : public CommunicationModel {
 public:
  std::uint32_t channel_count() const override { return 4; }
  double recorded_seconds(const WorkloadJob& job) override { return job.application == 0 ? 0 : 1; }
  double computing_seconds(const WorkloadJob&) override { return 1; }
  PlacedCommunication place(const WorkloadJob&, std::span<const Node> nodes) override {
    std::map<std::uint32_t, double> used;
    for (const Node node : nodes) used[index(node) / 4] = seconds;
    PlacedCommunication placed{seconds, seconds, {}};
    for (const auto& [channel, time] : used) placed.uses.push_back({channel, time});
    return placed;
  }
  const RunTimeModel* run_time_model(const WorkloadJob&) override { return nullptr; }
  double seconds = 1;
};

Workload workload_of(std::vector<WorkloadJob> jobs) {
  Workload workload;
  workload.name = "by hand";
  workload.jobs = std::move(jobs);
  workload.applications = {{"ring", 0.5}};
  return workload;
}

const Allocator& sixteen_nodes() {
  static const Allocator allocator(allocation_machine("mesh:4x4 core:1", Exclusive::routers));
  return allocator;
}

ReplayResult replay_with(CommunicationModel& model, const Workload& workload, std::string_view policy) {
  ReplayOptions options;
  options.communication = &model;
  options.keep_jobs = true;
  auto result = replay(sixteen_nodes(), **find_policy(policy), workload, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return *result;
}

TEST(ReplayWithPatterns, AFasterPlacementShortensTheRun) {
  ChannelsOfNodes model;
  model.seconds = 0.5;  // half of the recorded time; computing takes 1
  const auto result = replay_with(model, workload_of({{1, 0, 100, 100, 8, 1}}), "closed-best");
  EXPECT_DOUBLE_EQ(result.makespan, 75);
  EXPECT_DOUBLE_EQ(result.mean_communication, 25);
  EXPECT_DOUBLE_EQ(result.communication_ratio, 0.5);
  EXPECT_DOUBLE_EQ(result.bounded_slowdown, 1);
  EXPECT_EQ(result.communicating, 1U);
  EXPECT_DOUBLE_EQ(result.job_list[0].communication, 25);
}

TEST(ReplayWithPatterns, JobsWithoutAPatternKeepTheirRunTime) {
  ChannelsOfNodes model;
  model.seconds = 7;
  const auto result = replay_with(model, workload_of({{1, 0, 100, 100, 8, 0}}), "closed-best");
  EXPECT_DOUBLE_EQ(result.makespan, 100);
  EXPECT_EQ(result.communicating, 0U);
}

// Two jobs of six nodes in a row-major mesh of 4x4 share the channel of the second row (nodes 4 and 5, 6 and 7). Alone
// they run 100 s. While both run, each gets half of the channel: communication takes 2 s instead of 1 s per iteration.
TEST(ReplayWithPatterns, JobsOnOneChannelSlowEachOtherWhileBothRun) {
  ChannelsOfNodes model;
  const Workload both = workload_of({{1, 0, 100, 100, 6, 1}, {2, 0, 200, 200, 6, 1}});
  const auto shared = replay_with(model, both, "sequential");
  // The first: 50 iterations of 3 s. The second: 50 of 100 iterations in 150 s, then 50 iterations of 2 s.
  ASSERT_EQ(shared.job_list.size(), 2U);
  EXPECT_DOUBLE_EQ(shared.job_list[0].end, 150);
  EXPECT_DOUBLE_EQ(shared.job_list[1].end, 250);
  EXPECT_DOUBLE_EQ(shared.job_list[1].communication, 100 + 50);
  EXPECT_DOUBLE_EQ(shared.bounded_slowdown, (1.5 + 1.25) / 2);
  EXPECT_DOUBLE_EQ(shared.utilisation, (6 * 150 + 6 * 250) / (16 * 250.0));
}

TEST(ReplayWithPatterns, WorksWithEveryQueue) {
  const auto made = lublin_workload({.jobs = 200, .nodes = 16, .seed = 3});
  Workload workload = *made;
  assign_applications(workload, {{"ring", 0.5}}, 1);
  for (const Queue queue : {Queue::fcfs, Queue::easy, Queue::conservative}) {
    ChannelsOfNodes model;
    model.seconds = 2;
    ReplayOptions options{.queue = queue, .load = 1, .jobs = 60, .verify = true, .allocation = {}};
    options.communication = &model;
    const auto result = replay(sixteen_nodes(), **find_policy("closed-best"), workload, options);
    ASSERT_TRUE(result);
    EXPECT_EQ(result->jobs, 60U) << name_of(queue);
    EXPECT_EQ(result->conflicts, 0U);
    EXPECT_GT(result->communication_ratio, 1.9);
  }
}

TEST(Patterns, AreKeptInTheWorkloadFile) {
  auto made = lublin_workload({.jobs = 50, .nodes = 64, .seed = 2});
  const std::vector<std::string> patterns{"stencil3d:points=27@0.25", "ring"};
  auto applications = parse_applications(patterns);
  ASSERT_TRUE(applications);
  ASSERT_EQ(applications->size(), 6U);
  EXPECT_EQ((*applications)[0].pattern, "stencil3d:points=27");
  EXPECT_DOUBLE_EQ((*applications)[0].communication, 0.25);
  assign_applications(*made, *applications, 9);
  const auto read = read_swf(FileContents("jobs.swf", write_swf(*made)));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->applications.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(read->applications[i].pattern, (*applications)[i].pattern);
    EXPECT_DOUBLE_EQ(read->applications[i].communication, (*applications)[i].communication);
  }
  std::map<std::uint32_t, int> drawn;
  for (std::size_t i = 0; i < made->jobs.size(); ++i) {
    EXPECT_EQ(read->jobs[i].application, made->jobs[i].application);
    EXPECT_EQ(made->jobs[i].application == 0, made->jobs[i].tasks == 1);
    ++drawn[made->jobs[i].application];
  }
  EXPECT_GT(drawn.size(), 4U);
}

TEST(Patterns, OfRecordedWorkloadsAreNotKnown) {
  const std::string line = "1 0 -1 10 4 -1 -1 4 10 -1 1 -1 -1 3 -1 -1 -1 -1\n";
  EXPECT_EQ(read_swf(FileContents("jobs.swf", line))->jobs[0].application, 0U);
  const std::string with_gap = "; Pattern: 4 ring 0.3\n" + line;
  EXPECT_EQ(read_swf(FileContents("jobs.swf", with_gap))->jobs[0].application, 0U);
  const std::string malformed = "; Pattern: 3 ring 1.5\n; Pattern: x ring 0.1\n; Pattern: 3\n" + line;
  EXPECT_TRUE(read_swf(FileContents("jobs.swf", malformed))->applications.empty());
}

TEST(Patterns, WithInvalidSharesAreRefused) {
  for (const char* const text : {"ring@", "ring@1", "ring@x", "@0.3", "ring@-0.1"}) {
    const std::vector<std::string> patterns{text};
    EXPECT_FALSE(parse_applications(patterns)) << text;
  }
}

ReplayResult replay_moldable(CommunicationModel& model, const Workload& workload, double factor, Queue queue) {
  ReplayOptions options;
  options.queue = queue;
  options.communication = &model;
  options.keep_jobs = true;
  options.moldable = factor;
  auto result = replay(sixteen_nodes(), **find_policy("closed-best"), workload, options);
  EXPECT_TRUE(result) << (result ? "" : to_string(result.error()));
  return *result;
}

constexpr Queue all_queues[] = {Queue::fcfs, Queue::easy, Queue::conservative};

// Half of the 100 s are computing, which four times as many nodes do in a quarter of the time.
TEST(MoldableJobs, TakeMoreNodesOfAnIdleMachine) {
  for (const Queue queue : all_queues) {
    ChannelsOfNodes model;
    const auto result = replay_moldable(model, workload_of({{1, 0, 100, 100, 4, 1}}), 4, queue);
    EXPECT_DOUBLE_EQ(result.makespan, 50 + 12.5) << name_of(queue);
    EXPECT_EQ(result.job_list[0].nodes.size(), 16U);
    EXPECT_EQ(result.reshaped, 1U);
    EXPECT_DOUBLE_EQ(result.communication_ratio, 1);
  }
}

// The first job has half of the machine. On the other half the second one ends 100 s after its submission, on all nodes
// 75 s after the end of the first.
TEST(MoldableJobs, WaitForMoreNodesOnlyIfTheyThenEndEarlier) {
  for (const Queue queue : all_queues) {
    ChannelsOfNodes model;
    const auto soon = replay_moldable(model, workload_of({{1, 0, 10, 10, 8, 0}, {2, 1, 100, 100, 8, 1}}), 2, queue);
    EXPECT_DOUBLE_EQ(soon.makespan, 10 + 75) << name_of(queue);
    EXPECT_EQ(soon.reshaped, 1U);
    const auto late = replay_moldable(model, workload_of({{1, 0, 90, 90, 8, 0}, {2, 1, 100, 100, 8, 1}}), 2, queue);
    EXPECT_DOUBLE_EQ(late.makespan, 101) << name_of(queue);
    EXPECT_EQ(late.reshaped, 0U);
  }
}

TEST(MoldableJobs, StartOnFewerNodesInsteadOfWaiting) {
  for (const Queue queue : all_queues) {
    ChannelsOfNodes model;
    const auto result =
        replay_moldable(model, workload_of({{1, 0, 900, 900, 8, 0}, {2, 1, 100, 100, 16, 1}}), 2, queue);
    ASSERT_EQ(result.job_list.size(), 2U);
    EXPECT_DOUBLE_EQ(result.job_list[1].start, 1) << name_of(queue);
    EXPECT_DOUBLE_EQ(result.job_list[1].end, 1 + 50 + 100);
    EXPECT_EQ(result.job_list[1].nodes.size(), 8U);
  }
}

// The second job has a reservation for the whole machine at 100 s. The third one ends before that. The fourth one does
// not, on any number of nodes.
TEST(MoldableJobs, DoNotDelayTheReservationOfTheFirstJob) {
  ChannelsOfNodes model;
  const Workload workload =
      workload_of({{1, 0, 100, 100, 8, 0}, {2, 1, 50, 50, 16, 0}, {3, 2, 60, 60, 8, 1}, {4, 3, 400, 400, 8, 1}});
  const auto result = replay_moldable(model, workload, 4, Queue::easy);
  std::map<std::uint64_t, ReplayedJob> by_number;
  for (const ReplayedJob& job : result.job_list) by_number.emplace(job.number, job);
  EXPECT_DOUBLE_EQ(by_number.at(2).start, 100);
  EXPECT_DOUBLE_EQ(by_number.at(3).start, 2);
  EXPECT_GE(by_number.at(4).start, 150);
}

TEST(MoldableJobs, AreOnlyThoseWithAPattern) {
  ChannelsOfNodes model;
  const auto result =
      replay_moldable(model, workload_of({{1, 0, 100, 100, 4, 0}, {2, 0, 80, 80, 1, 1}}), 4, Queue::easy);
  EXPECT_DOUBLE_EQ(result.makespan, 100);
  EXPECT_EQ(result.reshaped, 0U);
}

TEST(NodeCounts, AreTheEndsOfTheRangeAndAboutSixBetween) {
  EXPECT_TRUE(NodeCounts().tried().empty());
  EXPECT_EQ((NodeCounts{5, 5}).tried(), std::vector<std::uint32_t>{5});
  EXPECT_EQ((NodeCounts{4, 12}).tried(), (std::vector<std::uint32_t>{4, 6, 8, 11, 12}));
  const auto wide = NodeCounts{1, 1'000'000}.tried();
  EXPECT_EQ(wide.front(), 1U);
  EXPECT_EQ(wide.back(), 1'000'000U);
  EXPECT_LE(wide.size(), 9U);
  EXPECT_TRUE(std::is_sorted(wide.begin(), wide.end()));
}

}  // namespace
}  // namespace rankloom
