// SPDX-License-Identifier: Apache-2.0
// tests of evaluate: successive halving with given times instead of runs.
#include "rankloom/evaluate/successive_halving.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/evaluate/statistics.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;
using Options = SuccessiveHalving::Options;
/// The time of a candidate's run; runs are counted from 0.
using CandidateTimes = std::function<double(std::size_t candidate, std::size_t run)>;

/// Runs all candidates until the search is over; a run takes as long as its time. Returns the order of the runs.
std::vector<std::size_t> run_all(SuccessiveHalving& halving, const CandidateTimes& times) {
  std::vector<std::size_t> order;
  while (const auto next = halving.next()) {
    order.push_back(*next);
    const double seconds = times(*next, halving.seconds(*next).size());
    halving.add(seconds, seconds);
  }
  return order;
}

CandidateTimes without_noise(std::vector<double> seconds) {
  return [seconds = std::move(seconds)](std::size_t candidate, std::size_t) { return seconds[candidate]; };
}

TEST(SuccessiveHalving, FindsTheFastestAndRunsItMostOften) {
  SuccessiveHalving halving(5, {});
  run_all(halving, without_noise({5, 4, 3, 1, 2}));
  EXPECT_EQ(halving.fastest(), 3U);
  std::vector<std::size_t> runs;
  for (std::size_t i = 0; i < 5; ++i) runs.push_back(halving.seconds(i).size());
  // Five candidates, then three, then two.
  EXPECT_THAT(runs, ElementsAre(3, 3, 6, 12, 12));
  EXPECT_EQ(SuccessiveHalving::planned_runs(5, {}), 36U);
}

TEST(SuccessiveHalving, FindsAFastCandidateAmongNoisyOnes) {
  constexpr std::size_t searches = 400, candidates = 8;
  constexpr double noise = 0.05, step = 0.02;
  std::size_t near_the_best = 0;
  for (std::size_t search = 0; search < searches; ++search) {
    Random random(1, search);
    std::vector<double> seconds;
    for (std::size_t i = 0; i < candidates; ++i) seconds.push_back(1 + step * static_cast<double>(i));
    random.shuffle(std::span(seconds));
    SuccessiveHalving halving(candidates, {});
    run_all(halving, [&](std::size_t candidate, std::size_t) {
      const bool disturbed = random.below(10) == 0;  // a run in ten takes twice as long
      return seconds[candidate] * (1 + noise * (2 * random.unit() - 1)) * (disturbed ? 2 : 1);
    });
    near_the_best += seconds[*halving.fastest()] < 1 + 2.5 * step ? 1 : 0;  // one of the best three
  }
  EXPECT_GE(near_the_best, searches * 9 / 10);
}

TEST(SuccessiveHalving, OneDisturbedRunDoesNotLeaveOutTheFastest) {
  for (std::size_t disturbed = 0; disturbed < 3; ++disturbed) {
    SuccessiveHalving halving(4, {});
    run_all(halving, [&](std::size_t candidate, std::size_t run) {
      if (candidate == 2) return run == disturbed ? 100.0 : 1.0;
      return 1.1 + 0.1 * static_cast<double>(candidate);
    });
    EXPECT_EQ(halving.fastest(), 2U) << disturbed;
  }
}

TEST(SuccessiveHalving, KeepsItsLimitOfTime) {
  for (const double limit : {0.5, 3.0, 7.5, 20.0, 36.5}) {
    SuccessiveHalving halving(6, {.max_seconds = limit});
    const auto order = run_all(halving, without_noise({2, 1.5, 1, 1.2, 3, 2.5}));
    // The length of the first run is not known before it.
    EXPECT_LE(halving.elapsed_seconds(), std::max(limit, 3.0)) << limit;
    ASSERT_FALSE(order.empty());
    ASSERT_TRUE(halving.fastest());
    EXPECT_FALSE(halving.seconds(*halving.fastest()).empty()) << "chosen without a run within " << limit;
  }
}

TEST(SuccessiveHalving, KeepsItsLimitOfRuns) {
  for (const std::size_t max_runs : {1U, 2U, 4U, 5U}) {
    SuccessiveHalving halving(8, {.max_runs = max_runs});
    run_all(halving, without_noise({8, 7, 6, 5, 4, 3, 2, 1}));
    EXPECT_EQ(halving.fastest(), 7U);
    for (std::size_t i = 0; i < 8; ++i) EXPECT_LE(halving.seconds(i).size(), max_runs);
    EXPECT_EQ(halving.seconds(7).size(), max_runs);
  }
}

TEST(SuccessiveHalving, WithoutTimeTheFirstCandidateWins) {
  SuccessiveHalving halving(3, {.max_seconds = 0});
  EXPECT_FALSE(halving.next());
  EXPECT_EQ(halving.fastest(), 0U);
  EXPECT_EQ(SuccessiveHalving::planned_runs(1, {}), 0U);
}

TEST(SuccessiveHalving, EqualTimesKeepTheOrderOfTheCandidates) {
  SuccessiveHalving halving(7, {});
  run_all(halving, [](std::size_t, std::size_t) { return 1; });
  EXPECT_EQ(halving.fastest(), 0U);
}

TEST(SuccessiveHalving, TheSameTimesGiveTheSameRuns) {
  const CandidateTimes times = [](std::size_t candidate, std::size_t run) {
    return 1 + static_cast<double>((candidate * 7 + run * 3) % 5);
  };
  SuccessiveHalving one(6, {}), other(6, {});
  const auto order = run_all(one, times);
  EXPECT_EQ(order, run_all(other, times));
  EXPECT_EQ(one.fastest(), other.fastest());
  // Each round of the first stage has one run of every candidate.
  for (std::size_t round = 0; round < 3; ++round) {
    std::vector<std::size_t> runs(order.begin() + static_cast<std::ptrdiff_t>(6 * round),
                                  order.begin() + static_cast<std::ptrdiff_t>(6 * round + 6));
    std::sort(runs.begin(), runs.end());
    EXPECT_THAT(runs, ElementsAre(0, 1, 2, 3, 4, 5));
  }
}

/// Eight candidates and a default placement without any difference. By the runs of the search, the winner seems to be
/// faster, because it was chosen by them. By new runs it does not.
TEST(SuccessiveHalving, NewRunsOfTheWinnerDoNotShowAGainThatIsNotThere) {
  constexpr std::size_t tunings = 2000, candidates = 8, pairs = 12;
  const ComparisonOptions options{.min_pairs = pairs, .max_pairs = pairs};
  std::size_t false_claims = 0;
  double gain_by_same_runs = 0, gain_by_new_runs = 0;
  const auto mean_log = [](std::span<const double> seconds) {
    double sum = 0;
    for (const double time : seconds) sum += std::log(time);
    return sum / static_cast<double>(seconds.size());
  };
  for (std::size_t tuning = 0; tuning < tunings; ++tuning) {
    Random random(2, tuning);
    const auto time = [&random] { return 0.95 + 0.1 * random.unit(); };
    SuccessiveHalving halving(candidates, {});
    run_all(halving, [&](std::size_t, std::size_t) { return time(); });
    std::vector<double> before, after;
    for (std::size_t pair = 0; pair < pairs; ++pair) {
      before.push_back(time());
      after.push_back(time());
    }
    const auto winner = halving.seconds(*halving.fastest());
    ASSERT_EQ(winner.size(), pairs);
    gain_by_same_runs += (mean_log(before) - mean_log(winner)) / tunings;
    gain_by_new_runs += (mean_log(before) - mean_log(after)) / tunings;
    false_claims += compare_pairs(before, after, options).outcome == PairedComparison::Outcome::faster ? 1 : 0;
  }
  EXPECT_GT(gain_by_same_runs, 0.005);
  EXPECT_NEAR(gain_by_new_runs, 0, 0.0015);  // five standard errors
  EXPECT_LE(false_claims, tunings / 100);
}

TEST(SuccessiveHalving, LeavesOutCandidatesThatFail) {
  SuccessiveHalving halving(4, {});
  while (const auto next = halving.next()) {
    if (*next % 2 == 1) {
      halving.drop(1);
    } else {
      halving.add(*next == 2 ? 1 : 2, 1);
    }
  }
  EXPECT_EQ(halving.fastest(), 2U);
  EXPECT_TRUE(halving.seconds(1).empty());

  SuccessiveHalving failing(3, {});
  while (failing.next()) failing.drop(1);
  // The last candidate needs no comparison.
  ASSERT_TRUE(failing.fastest());
  EXPECT_TRUE(failing.seconds(*failing.fastest()).empty());
}

}  // namespace
}  // namespace rankloom
