// SPDX-License-Identifier: Apache-2.0
// tests of evaluate/simulate: states of ranks over time and critical paths, of runs whose times are known.
#include "rankloom/evaluate/simulate/timeline.hpp"

#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace rankloom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using Kind = ReplayedAction::Kind;
using Actions = std::vector<std::vector<ReplayedAction>>;

ReplayedAction compute(double begin, double end) {
  return {.kind = Kind::compute, .begin = begin, .end = end};
}
ReplayedAction message(Kind kind, std::uint32_t partner, double begin, double end, std::int32_t tag = 0) {
  return {.kind = kind, .partner = partner, .tag = tag, .bytes = 1000, .begin = begin, .end = end};
}
ReplayedAction call(Kind kind, double begin, double end) {
  return {.kind = kind, .begin = begin, .end = end};
}

/// "compute 1 0-3", "message 0<1 3-4": the steps of the path as text.
std::vector<std::string> words(const Timeline& timeline) {
  std::vector<std::string> steps;
  for (const PathStep& step : timeline.path) {
    const auto number = [](double value) { return std::to_string(static_cast<int>(value * 10 + 0.5)); };
    const std::string what = step.kind == PathStep::Kind::compute
                                 ? "compute " + std::to_string(step.to)
                                 : (step.kind == PathStep::Kind::message ? "message " : "collective ") +
                                       std::to_string(step.to) + "<" + std::to_string(step.from);
    steps.push_back(what + " " + number(step.begin) + "-" + number(step.end));
  }
  return steps;
}

/// Rank 1 computes until 3 and then sends; rank 0 waits for it from 1 and receives the message at 4.
Actions late_sender() {
  return {{compute(0, 1), message(Kind::receive, 1, 1, 4), compute(4, 5)},
          {compute(0, 3), message(Kind::send, 0, 3, 4)}};
}

TEST(Timelines, AReceiverWaitsUntilItsSenderBegins) {
  const Timeline timeline = make_timeline(late_sender(), {});
  EXPECT_DOUBLE_EQ(timeline.seconds, 5);
  EXPECT_THAT(timeline.rank_compute, ElementsAre(DoubleNear(2, 1e-12), DoubleNear(3, 1e-12)));
  EXPECT_THAT(timeline.rank_wait, ElementsAre(DoubleNear(2, 1e-12), 0));
  EXPECT_THAT(timeline.rank_transfer, ElementsAre(DoubleNear(1, 1e-12), DoubleNear(1, 1e-12)));
}

TEST(Timelines, TheCriticalPathGoesThroughTheLateSender) {
  const Timeline timeline = make_timeline(late_sender(), {});
  EXPECT_THAT(words(timeline), ElementsAre("compute 1 0-30", "message 0<1 30-40", "compute 0 40-50"));
  EXPECT_DOUBLE_EQ(timeline.path_compute, 4);
  EXPECT_THAT(timeline.path_messages, ElementsAre(1));
}

TEST(Timelines, TheCriticalPathStaysOnALateReceiver) {
  const Timeline timeline = make_timeline(
      {{compute(0, 3), message(Kind::receive, 1, 3, 4)}, {compute(0, 1), message(Kind::send, 0, 1, 4)}}, {});
  EXPECT_THAT(words(timeline), ElementsAre("compute 0 0-30", "message 0<1 30-40"));
  EXPECT_THAT(timeline.rank_wait, ElementsAre(0, DoubleNear(2, 1e-12)));
}

TEST(Timelines, SendersOfEagerMessagesDoNotWait) {
  const Timeline timeline = make_timeline(
      {{compute(0, 3), message(Kind::receive, 1, 3, 4)}, {compute(0, 1), message(Kind::send, 0, 1, 1), compute(1, 5)}},
      {.eager = 1001});
  EXPECT_THAT(timeline.rank_wait, ElementsAre(0, 0));
  EXPECT_THAT(words(timeline), ElementsAre("compute 1 0-50"));
}

TEST(Timelines, AWaitForSeveralMessagesEndsWithTheLastOne) {
  // Rank 1 sends later than rank 2, but its message is short.
  const Actions actions{
      {message(Kind::post_receive, 1, 0, 0), message(Kind::post_receive, 2, 0, 0), call(Kind::wait_all, 0, 9)},
      {compute(0, 3), message(Kind::send, 0, 3, 4)},
      {compute(0, 2), message(Kind::send, 0, 2, 9)}};
  TimelineOptions options;
  options.message_seconds = [](std::uint32_t from, std::uint32_t, double) { return from == 2 ? 7.0 : 1.0; };
  EXPECT_THAT(words(make_timeline(actions, options)), ElementsAre("compute 2 0-20", "message 0<2 20-90"));
}

TEST(Timelines, MessagesWithOtherTagsAreOtherMessages) {
  const Actions actions{{message(Kind::receive, 1, 0, 4, 7), message(Kind::receive, 1, 4, 4, 5)},
                        {message(Kind::post_send, 0, 0, 0, 5), compute(0, 3), message(Kind::send, 0, 3, 4, 7)}};
  EXPECT_THAT(words(make_timeline(actions, {})), ElementsAre("compute 1 0-30", "message 0<1 30-40"));
}

TEST(Timelines, RanksOfACollectiveWaitForTheLastOne) {
  const Actions actions{{compute(0, 1), call(Kind::collective, 1, 6)},
                        {compute(0, 5), call(Kind::collective, 5, 6)},
                        {compute(0, 2), call(Kind::collective, 2, 6), compute(6, 7)}};
  const Timeline timeline = make_timeline(actions, {});
  EXPECT_THAT(timeline.rank_wait, ElementsAre(DoubleNear(4, 1e-12), 0, DoubleNear(3, 1e-12)));
  EXPECT_THAT(words(timeline), ElementsAre("compute 1 0-50", "collective 2<1 50-60", "compute 2 60-70"));
  EXPECT_DOUBLE_EQ(timeline.path_collectives, 1);
}

TEST(Timelines, TheSharesOfAnIntervalAddUpUntilTheEndOfTheRank) {
  const Timeline timeline = make_timeline(late_sender(), {});
  ASSERT_EQ(timeline.intervals, Timeline::max_intervals);
  for (std::size_t row = 0; row < 2; ++row) {
    const double end = row == 0 ? 5 : 4;
    for (std::uint32_t at = 0; at < timeline.intervals; ++at) {
      const std::size_t cell = row * timeline.intervals + at;
      const int sum = timeline.compute[cell] + timeline.transfer[cell] + timeline.wait[cell];
      const double begin_of_cell = 5.0 * at / timeline.intervals;
      EXPECT_NEAR(sum, begin_of_cell < end - 1e-9 ? 1000 : 0, 2) << row << " " << at;
    }
  }
}

TEST(Timelines, ManyRanksShareRowsAndStartsAreSubtracted) {
  Actions actions(1000);
  for (auto& of_rank : actions) of_rank = {compute(10, 12)};
  const Timeline timeline = make_timeline(actions, {.begin = 10});
  EXPECT_EQ(timeline.ranks_per_row, 4);
  EXPECT_EQ(timeline.compute.size(), 250 * timeline.intervals);
  EXPECT_DOUBLE_EQ(timeline.seconds, 2);
  EXPECT_EQ(std::accumulate(timeline.compute.begin(), timeline.compute.end(), 0U), 250U * timeline.intervals * 1000);
  EXPECT_DOUBLE_EQ(timeline.path[0].begin, 0);
}

TEST(Timelines, ThePathOfALongRunKeepsItsLongestStepsAndAllOfItsTime) {
  // Two ranks send each other one message after the other.
  Actions actions(2);
  constexpr int rounds = 5000;
  for (int round = 0; round < rounds; ++round) {
    const double begin = round;
    const auto from = static_cast<std::uint32_t>(round % 2), to = 1 - from;
    actions[from].push_back(message(Kind::send, to, begin, begin + 1));
    actions[to].push_back(message(Kind::receive, from, begin, begin + 1));
  }
  const Timeline timeline = make_timeline(actions, {});
  EXPECT_EQ(timeline.path_steps, rounds);
  EXPECT_EQ(timeline.path.size(), Timeline::max_steps);
  EXPECT_NEAR(timeline.path_messages[0], rounds, 1e-9);
}

TEST(Timelines, MessagesOfThePathAreCountedByTheirLevel) {
  TimelineOptions options;
  options.levels = 3;
  options.level = [](std::uint32_t, std::uint32_t) { return std::size_t{2}; };
  EXPECT_THAT(make_timeline(late_sender(), options).path_messages, ElementsAre(0, 0, 1));
}

TEST(Timelines, AreTheSameAfterJson) {
  const Timeline timeline = make_timeline(late_sender(), {});
  const nlohmann::json json = to_json(timeline);
  EXPECT_EQ(to_json(timeline_from_json(json)), json);
}

TEST(Timelines, OfWrongSizesAreRefused) {
  nlohmann::json json = to_json(make_timeline(late_sender(), {}));
  json["ranks"] = 700;
  EXPECT_THROW(timeline_from_json(json), std::exception);
  json["ranks"] = 2;
  json["path"][0][1] = 2;
  EXPECT_THROW(timeline_from_json(json), std::exception);
}

TEST(Timelines, OfUnmatchedMessagesAreTransfers) {
  const Timeline timeline = make_timeline({{message(Kind::receive, 9, 0, 2)}, {call(Kind::wait_all, 0, 1)}}, {});
  EXPECT_THAT(timeline.rank_transfer, ElementsAre(2, 1));
  EXPECT_THAT(words(timeline), ElementsAre("message 0<0 0-20"));
}

}  // namespace
}  // namespace rankloom
