// SPDX-License-Identifier: Apache-2.0
// Tests of evaluate: the sequential comparison of two variants of a program, on simulated times.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/evaluate/statistics.hpp"

namespace rankloom {
namespace {

using Outcome = PairedComparison::Outcome;

TEST(Statistics, TheMedianIsTheMiddleValueOrTheMeanOfTheTwoMiddleValues) {
  EXPECT_EQ(median(std::vector{3.0, 1.0, 2.0}), 2);
  EXPECT_EQ(median(std::vector{4.0, 1.0, 2.0, 3.0}), 2.5);
}

TEST(Statistics, OutliersAreFarFromTheMedianComparedWithTheOtherValues) {
  EXPECT_EQ(find_outliers(std::vector{1.0, 1.01, 0.99, 2.0, 1.0}), std::vector<std::size_t>{3});
  EXPECT_TRUE(find_outliers(std::vector{1.0, 1.0, 1.0, 1.04}).empty());  // less than 5 %
  EXPECT_TRUE(find_outliers(std::vector{100.0, 100.0, 100.0, 105.0}).empty());
  EXPECT_TRUE(find_outliers(std::vector{1.0, 1.2, 0.8, 1.3, 0.7}).empty());
  EXPECT_TRUE(find_outliers({}).empty());
}

TEST(Statistics, StudentQuantilesAreThoseOfTheTables) {
  EXPECT_NEAR(student_quantile(0.005, 1), 63.657, 1e-3);
  EXPECT_NEAR(student_quantile(0.025, 2), 4.3027, 1e-4);
  EXPECT_NEAR(student_quantile(0.005, 4), 4.6041, 1e-4);
  EXPECT_NEAR(student_quantile(0.025, 7), 2.3646, 1e-4);
  EXPECT_NEAR(student_quantile(0.0005, 14), 4.1405, 1e-4);
  EXPECT_NEAR(student_quantile(0.025, 200), 1.9719, 1e-4);
}

TEST(PlannedLooks, SpendTheErrorProbabilityOnceForAnyNumberOfPairs) {
  for (std::size_t min = 1; min <= 12; ++min) {
    for (std::size_t max = 3; max <= 60; ++max) {
      const ComparisonOptions options{.min_pairs = min, .max_pairs = max};
      const auto looks = planned_looks(options);
      ASSERT_FALSE(looks.empty());
      double spent = 0;
      for (std::size_t i = 0; i < looks.size(); ++i) {
        spent += looks[i].level;
        EXPECT_GE(looks[i].pairs, 3U);
        if (i > 0) {
          EXPECT_GT(looks[i].pairs, looks[i - 1].pairs);
        }
      }
      EXPECT_NEAR(spent, options.error, 1e-12) << min << " " << max;
      EXPECT_EQ(looks.back().pairs, max);
    }
  }
  EXPECT_TRUE(planned_looks({.min_pairs = 1, .max_pairs = 2}).empty());
}

TEST(PlannedLooks, OfSeveralComparisonsNeedFourPairs) {
  const ComparisonOptions several = ComparisonOptions{.min_pairs = 3}.for_one_of(2);
  EXPECT_EQ(planned_looks(several).front().pairs, 4U);
  EXPECT_TRUE(planned_looks(ComparisonOptions{.max_pairs = 3}.for_one_of(2)).empty());
  EXPECT_EQ(planned_looks(ComparisonOptions{.max_pairs = 3}.for_one_of(1)).size(), 1U);
}

TEST(RunOrder, IsBalancedInEveryTwoPairsAndNotPeriodic) {
  std::vector<bool> blocks;
  for (std::size_t pair = 0; pair < 200; pair += 2) {
    EXPECT_NE(run_order(pair, 2), run_order(pair + 1, 2));
    blocks.push_back(run_order(pair, 2)[0] == 1);
  }
  const auto swapped = std::count(blocks.begin(), blocks.end(), true);
  EXPECT_GT(swapped, 30);
  EXPECT_LT(swapped, 70);
}

TEST(RunOrder, OfThreeVariantsIsReversedInEverySecondRoundAndContainsEachOnce) {
  std::map<std::vector<std::size_t>, int> orders;
  for (std::size_t round = 0; round < 1200; round += 2) {
    std::vector<std::size_t> order = run_order(round, 3);
    ++orders[order];
    std::vector<std::size_t> next = run_order(round + 1, 3);
    std::reverse(next.begin(), next.end());
    EXPECT_EQ(next, order);
    std::sort(order.begin(), order.end());
    EXPECT_EQ(order, (std::vector<std::size_t>{0, 1, 2}));
  }
  ASSERT_EQ(orders.size(), 6U);
  for (const auto& [order, times] : orders) EXPECT_GT(times, 60);
}

/// The times of all runs of a tuning with max_pairs pairs, in the order in which they run.
using Times = std::function<std::vector<double>(Random&, std::size_t)>;

double normal(Random& random) {
  return std::sqrt(-2 * std::log(1 - random.unit())) * std::cos(2 * std::numbers::pi * random.unit());
}

/// Independent times.
Times each(const std::function<double(Random&)>& time) {
  return [time](Random& random, std::size_t runs) {
    std::vector<double> times(runs);
    for (double& value : times) value = time(random);
    return times;
  };
}

/// A machine in a fast or a slow state, which changes with this probability after each run.
Times two_states(double change, double slow) {
  return [=](Random& random, std::size_t runs) {
    bool state = random.unit() < 0.5;
    std::vector<double> times(runs);
    for (double& value : times) {
      if (random.unit() < change) state = !state;
      value = (state ? slow : 1) * std::exp(0.01 * normal(random));
    }
    return times;
  };
}

struct Distribution {
  std::string name;
  Times times;
};

std::vector<Distribution> distributions() {
  return {
      {"normal", each([](Random& random) { return 1 + 0.05 * normal(random); })},
      {"uniform", each([](Random& random) { return 0.9 + 0.2 * random.unit(); })},
      {"log-normal", each([](Random& random) { return std::exp(0.3 * normal(random)); })},
      {"exponential above a minimum", each([](Random& random) { return 1 - 0.1 * std::log(1 - random.unit()); })},
      {"Pareto without a variance",
       each([](Random& random) { return 1 + 0.02 * std::pow(1 - random.unit(), -1 / 1.5); })},
      {"one run in ten is an outlier", each([](Random& random) {
         return (1 + 0.01 * normal(random)) * (random.unit() < 0.1 ? 1 + 3 * random.unit() : 1);
       })},
      {"two states in turn at random", two_states(0.5, 1.5)},
      {"two states that last", two_states(0.1, 1.5)},
      {"rounded to milliseconds", each([](Random& random) { return std::round(100 + 0.6 * normal(random)) / 1000; })},
      {"linear drift",
       [](Random& random, std::size_t runs) {
         std::vector<double> times(runs);
         const double drift = 0.02 * (random.unit() - 0.5);
         for (std::size_t i = 0; i < runs; ++i) times[i] = 1 + drift * static_cast<double>(i) + 0.002 * normal(random);
         return times;
       }},
      {"warm-up curve",
       [](Random& random, std::size_t runs) {
         std::vector<double> times(runs);
         for (std::size_t i = 0; i < runs; ++i)
           times[i] = 1 + 0.5 * std::exp(-0.5 * static_cast<double>(i)) + 0.01 * normal(random);
         return times;
       }},
      {"periodic",
       [](Random& random, std::size_t runs) {
         std::vector<double> times(runs);
         const double begin = random.unit(), period = 2 + 10 * random.unit();
         for (std::size_t i = 0; i < runs; ++i)
           times[i] = 1 + 0.1 * std::sin(2 * std::numbers::pi * (begin + static_cast<double>(i) / period)) +
                      0.005 * normal(random);
         return times;
       }},
      {"autocorrelated",
       [](Random& random, std::size_t runs) {
         std::vector<double> times(runs);
         double state = normal(random);
         for (double& value : times) {
           state = 0.9 * state + std::sqrt(1 - 0.81) * normal(random);
           value = std::exp(0.05 * state);
         }
         return times;
       }},
  };
}

/// One tuning: the runs are in the order of run_order(), and those after the change take 1 / gain of the time.
PairedComparison tune(const std::vector<double>& times, const ComparisonOptions& options, double gain = 1) {
  std::vector<double> before, after;
  for (std::size_t pair = 0; pair < options.max_pairs; ++pair) {
    const bool swapped = run_order(pair, 2)[0] == 1;
    before.push_back(times[2 * pair + (swapped ? 1 : 0)]);
    after.push_back(times[2 * pair + (swapped ? 0 : 1)] / gain);
  }
  return compare_pairs(before, after, options);
}

/// One tuning with two placements that are compared with the default one. A placement runs until its comparison is
/// over.
std::vector<PairedComparison> tune_two(const std::vector<double>& times, const ComparisonOptions& options) {
  const ComparisonOptions each_options = options.for_one_of(2);
  std::vector<std::vector<double>> before(2), after(2);
  std::vector<PairedComparison> comparisons(2, compare_pairs({}, {}, each_options));
  std::size_t run = 0;
  for (std::size_t round = 0; round < options.max_pairs; ++round) {
    std::vector<std::size_t> running;
    for (std::size_t i = 0; i < 2; ++i)
      if (comparisons[i].next_pairs > 0) running.push_back(i);
    if (running.empty()) break;
    double time_before = 0;
    for (const std::size_t variant : run_order(round, 1 + running.size())) {
      const double time = times[run++];
      if (variant == 0) {
        time_before = time;
      } else {
        after[running[variant - 1]].push_back(time);
      }
    }
    for (const std::size_t i : running) {
      before[i].push_back(time_before);
      if (before[i].size() == comparisons[i].next_pairs)
        comparisons[i] = compare_pairs(before[i], after[i], each_options);
    }
  }
  return comparisons;
}

struct Claims {
  int faster = 0, slower = 0;
  double pairs = 0;  ///< Mean.
};

Claims simulate(const Distribution& distribution, const ComparisonOptions& options, int tunes, double gain = 1) {
  Claims claims;
  Random random(18);
  for (int i = 0; i < tunes; ++i) {
    const PairedComparison result = tune(distribution.times(random, 2 * options.max_pairs), options, gain);
    claims.faster += result.outcome == Outcome::faster ? 1 : 0;
    claims.slower += result.outcome == Outcome::slower ? 1 : 0;
    claims.pairs += static_cast<double>(result.pairs) / tunes;
  }
  return claims;
}

class Simulated : public ::testing::TestWithParam<std::size_t> {};

TEST_P(Simulated, TunesOfEqualPlacementsClaimADifferenceInAtMostOnePercentOnEachSide) {
  const Distribution distribution = distributions()[GetParam()];
  constexpr int tunes = 10'000;
  for (const std::size_t min_pairs : {5, 3}) {
    // No order of six runs is free of periods, so three pairs cannot tell a strictly periodic disturbance
    // (docs/tuning.md).
    if (min_pairs == 3 && distribution.name == "periodic") continue;
    const Claims claims = simulate(distribution, {.min_pairs = min_pairs}, tunes);
    std::printf("%-32s first look after %zu: %.2f %% faster, %.2f %% slower, %.1f pairs\n", distribution.name.c_str(),
                min_pairs, 100.0 * claims.faster / tunes, 100.0 * claims.slower / tunes, claims.pairs);
    const double limit = min_pairs == 5 ? 0.01 : 0.025;
    EXPECT_LE(claims.faster, limit * tunes) << distribution.name << ", first look after " << min_pairs;
    EXPECT_LE(claims.slower, limit * tunes) << distribution.name << ", first look after " << min_pairs;
  }
}

TEST_P(Simulated, TunesOfThreeEqualPlacementsClaimADifferenceInAtMostOnePercentOnEachSide) {
  const Distribution distribution = distributions()[GetParam()];
  constexpr int tunes = 5'000;
  for (const std::size_t min_pairs : {5, 3}) {
    if (min_pairs == 3 && distribution.name == "periodic") continue;
    const ComparisonOptions options{.min_pairs = min_pairs};
    int faster = 0, slower = 0;
    Random random(18);
    for (int i = 0; i < tunes; ++i) {
      const auto results = tune_two(distribution.times(random, 3 * options.max_pairs), options);
      const auto any = [&](Outcome outcome) {
        return std::any_of(results.begin(), results.end(), [&](const auto& one) { return one.outcome == outcome; });
      };
      faster += any(Outcome::faster) ? 1 : 0;
      slower += any(Outcome::slower) ? 1 : 0;
    }
    std::printf("%-32s three placements, first look after %zu: %.2f %% faster, %.2f %% slower\n",
                distribution.name.c_str(), min_pairs, 100.0 * faster / tunes, 100.0 * slower / tunes);
    const double limit = min_pairs == 5 ? 0.01 : 0.025;
    EXPECT_LE(faster, limit * tunes) << distribution.name << ", first look after " << min_pairs;
    EXPECT_LE(slower, limit * tunes) << distribution.name << ", first look after " << min_pairs;
  }
}

INSTANTIATE_TEST_SUITE_P(Distributions, Simulated, ::testing::Range<std::size_t>(0, distributions().size()));

TEST(Comparison, FindsTheGainsThatTheDocumentationStates) {
  const Distribution noise{"normal", each([](Random& random) { return 1 + 0.05 * normal(random); })};
  constexpr int tunes = 2000;
  const auto found = [&](const ComparisonOptions& options, double gain) {
    return static_cast<double>(simulate(noise, options, tunes, gain).faster) / tunes;
  };
  for (const double gain : {1.05, 1.08, 1.1, 1.15, 1.2, 1.25, 1.3}) {
    std::printf("gain %.2f: found by 5 pairs in %.0f %%, by up to 20 pairs in %.0f %%\n", gain,
                100 * found({.max_pairs = 5}, gain), 100 * found({}, gain));
  }
  EXPECT_GE(found({.max_pairs = 5}, 1.2), 0.8);
  EXPECT_GE(found({}, 1.1), 0.8);
}

TEST(Comparison, GivesNoVerdictFromFewerThanThreePairs) {
  const std::vector<double> before{2, 2}, after{1, 1};
  const auto result = compare_pairs(before, after, {.min_pairs = 1, .max_pairs = 2});
  EXPECT_EQ(result.outcome, Outcome::too_few_pairs);
  EXPECT_EQ(result.next_pairs, 0U);
  EXPECT_EQ(compare_pairs({}, {}, {.min_pairs = 1}).next_pairs, 3U);
}

TEST(Comparison, AddsPairsUntilTheIntervalIsNarrowEnoughOrThereAreEnough) {
  const std::vector<double> noisy{1, 1.1, 0.95, 1.2, 0.9}, steady{1, 1.001, 0.999, 1.002, 0.998};
  const std::vector<double> ones(5, 1.0);
  EXPECT_EQ(compare_pairs(noisy, ones, {}).next_pairs, 7U);
  EXPECT_EQ(compare_pairs(noisy, ones, {.max_pairs = 5}).next_pairs, 0U);
  EXPECT_EQ(compare_pairs(steady, ones, {}).next_pairs, 0U);
  EXPECT_EQ(compare_pairs(steady, ones, {}).outcome, Outcome::same);
}

TEST(Comparison, TheIntervalIsThatOfStudentOnTheLogarithms) {
  const std::vector<double> before{1.2, 1.3, 1.1, 1.25, 1.15}, after{1, 1, 1, 1, 1};
  const auto result = compare_pairs(before, after, {.max_pairs = 5});
  // Mean and standard error of the logarithms are 0.18058 and 0.02953; the quantile of one percent and four degrees is
  // 3.7469.
  EXPECT_NEAR(std::log(result.ratio), 0.18058, 1e-5);
  EXPECT_NEAR(std::log(result.high / result.low) / 2, 0.02953 * 3.7469, 1e-4);
  EXPECT_EQ(result.outcome, Outcome::faster);
  EXPECT_EQ(compare_pairs(after, before, {.max_pairs = 5}).outcome, Outcome::slower);
}

TEST(Comparison, OneOutlierInTwentyPairsDoesNotHideAGain) {
  std::vector<double> before(20, 1.1), after(20, 1.0);
  for (std::size_t i = 0; i < 20; ++i) after[i] += 0.002 * static_cast<double>(i % 5);
  after[7] = 30;
  EXPECT_EQ(compare_pairs(before, after, {.min_pairs = 20}).outcome, Outcome::faster);
}

TEST(Comparison, ADifferenceBelowOnePercentIsNone) {
  const std::vector<double> before(5, 1.005), after(5, 1.0);
  EXPECT_EQ(compare_pairs(before, after, {}).outcome, Outcome::same);
  EXPECT_EQ(compare_pairs(after, before, {}).outcome, Outcome::same);
}

}  // namespace
}  // namespace rankloom
