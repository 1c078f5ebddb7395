// SPDX-License-Identifier: Apache-2.0
// tests of apps: what `rankloom tune` concludes from times and from the share of the time in MPI.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/rankloom/verbs/launch/tune/result.hpp"

namespace rankloom::app {
namespace {

using ::testing::HasSubstr;

/// A mapping with half of the cost; with it the program takes 1 / gain of the time. Runs differ by one percent.
TuneResult measured(double gain, std::optional<double> share_in_mpi) {
  TuneResult result;
  result.command = "mpirun -n 4 ./app";
  result.ranks = result.cores = 4;
  result.cost_default = 2;
  result.cost = 1;
  result.share_in_mpi = share_in_mpi;
  TuneMeasurement measurement;
  for (const double noise : {1.0, 1.01, 0.99, 1.005, 0.995}) {
    measurement.before_seconds.push_back(gain * noise);
    measurement.after_seconds.push_back(1 / noise);
  }
  measurement.comparison = compare_pairs(measurement.before_seconds, measurement.after_seconds, {});
  result.measurement = measurement;
  return result;
}

TEST(TuneResult, AGainHasAnIntervalAndACommand) {
  TuneResult result = measured(1.5, 0.6);
  result.use = "mpirun --rankfile f ./app";
  EXPECT_EQ(result.verdict(), TuneVerdict::gain);
  EXPECT_THAT(result.conclusion(), HasSubstr("1.50 times faster than the default placement (1.4"));
  EXPECT_THAT(result.conclusion(), HasSubstr("with 98 % confidence, 5 runs each)"));
  const Json json = result.json();
  EXPECT_TRUE(json["gain"]);
  EXPECT_EQ(json["verdict"], "faster");
  EXPECT_NEAR(json["speedup"], 1.5, 0.01);
  EXPECT_LT(json["speedup_low"], json["speedup"]);
  EXPECT_EQ(json["use"], result.use);
}

TEST(TuneResult, AGainIsNeverLargerThanTheTimeInMpiAllows) {
  for (const double share : {0.019, 0.1, 0.3, 0.6}) {
    for (const double gain : {1.02, 1.1, 1.3, 1.56, 4.0}) {
      const TuneResult result = measured(gain, share);
      const Json json = result.json();
      EXPECT_LE(json["speedup"], 1 / (1 - share)) << share << " " << gain;
      EXPECT_LE(json["speedup_high"], 1 / (1 - share)) << share << " " << gain;
      if (gain > 1.1 / (1 - share)) {
        EXPECT_FALSE(json["gain"]) << share << " " << gain;
      }
    }
  }
  const TuneResult sleeping = measured(1.56, 0.019);
  EXPECT_EQ(sleeping.verdict(), TuneVerdict::not_by_placement);
  EXPECT_THAT(sleeping.conclusion(), HasSubstr("faster, but not because of the placement"));
  EXPECT_THAT(
      sleeping.reason(),
      HasSubstr("1.9 % of the time is spent in MPI, so that a placement can make the program at most 1.02 times"));
  EXPECT_NEAR(sleeping.json()["measured_speedup"], 1.56, 0.02);
  EXPECT_TRUE(measured(1.56, std::nullopt).gain());
}

TEST(TuneResult, AFasterStartOfTheLauncherIsNotAGainOfTheMapping) {
  TuneResult result = measured(1.2, std::nullopt);
  result.measurement->start = StartTimes{.before_seconds = 0.3, .after_seconds = 0.1};
  EXPECT_EQ(result.verdict(), TuneVerdict::faster_start);
  EXPECT_FALSE(result.json()["gain"]);
  EXPECT_EQ(result.json()["verdict"], "faster_start");
  EXPECT_THAT(result.conclusion(), HasSubstr("faster, but not because of the placement"));
  EXPECT_THAT(result.reason(), HasSubstr("starts the ranks 200 ms faster with the mapping"));

  // What remains of a larger gain is 1.5 / 1.2.
  result = measured(1.5, std::nullopt);
  result.measurement->start = StartTimes{.before_seconds = 0.3, .after_seconds = 0.1};
  EXPECT_TRUE(result.gain());
  EXPECT_NEAR(result.json()["speedup"], 1.25, 0.01);
  EXPECT_NEAR(result.json()["measured_speedup"], 1.5, 0.01);

  // A slower start costs the user time, too: nothing is added to the gain.
  result.measurement->start = StartTimes{.before_seconds = 0.1, .after_seconds = 0.3};
  EXPECT_NEAR(result.json()["speedup"], 1.5, 0.01);
}

TEST(TuneResult, ASlowdownAndNoDifferenceAreSaid) {
  EXPECT_THAT(measured(0.8, 0.5).conclusion(), HasSubstr("slower, not faster (0.80 times as fast"));
  EXPECT_TRUE(measured(0.8, 0.5).json()["slower"]);
  EXPECT_THAT(measured(1, 0.5).conclusion(), HasSubstr("no measurable difference (1.00 times as fast"));
  EXPECT_FALSE(measured(1, 0.5).gain());
}

TEST(TuneResult, TwoRunsAreNoVerdict) {
  TuneResult result = measured(2, 0.9);
  result.measurement->before_seconds.resize(2);
  result.measurement->after_seconds.resize(2);
  result.measurement->comparison = compare_pairs(result.measurement->before_seconds, result.measurement->after_seconds,
                                                 {.min_pairs = 1, .max_pairs = 2});
  EXPECT_FALSE(result.gain());
  EXPECT_THAT(result.conclusion(), HasSubstr("no verdict: a verdict needs at least 3 runs"));
  EXPECT_TRUE(result.json()["speedup"].is_null());
}

TEST(TuneResult, OutliersAreNamed) {
  TuneResult result = measured(1.5, 0.6);
  result.measurement->after_seconds[2] = 8;
  EXPECT_THAT(result.conclusion(), HasSubstr("outlier: run 3 with the mapping took 8 s, the median is"));
  const Json outliers = result.json()["outliers"];
  ASSERT_EQ(outliers.size(), 1U);
  EXPECT_EQ(outliers[0]["placement"], "mapping");
}

TEST(TuneResult, AProgramThatHardlyCommunicatesCannotGain) {
  TuneResult result = measured(1, 0.005);
  result.measurement.reset();
  EXPECT_FALSE(result.can_gain());
  EXPECT_THAT(result.conclusion(), HasSubstr("no gain expected"));
  EXPECT_THAT(result.reason(), HasSubstr("the program hardly communicates; 0.5 % of the time is spent in MPI"));
}

/// The measurement of a gain; threads_per_core 0 is the mapping.
TuneMeasurement candidate(double gain, std::uint32_t threads_per_core) {
  TuneMeasurement measurement = *measured(gain, std::nullopt).measurement;
  measurement.threads_per_core = threads_per_core;
  return measurement;
}

TEST(TuneResult, TheMappingWithTheLargestGainIsChosen) {
  TuneResult result = measured(1, 0.5);
  result.choose({candidate(1.2, 0), candidate(1.5, 1)});
  EXPECT_THAT(result.conclusion(),
              HasSubstr("with 1 hardware thread per core: 1.50 times faster than the default placement (1.4"));
  EXPECT_THAT(result.conclusion(), HasSubstr("  with the mapping: 1.20 times as fast (1.1"));
  Json json = result.json();
  EXPECT_EQ(json["threads_per_core"], 1);
  EXPECT_EQ(json["other_placements"][0]["verdict"], "faster");

  result.choose({candidate(1.5, 0), candidate(1.2, 2)});
  EXPECT_FALSE(result.json().contains("threads_per_core"));
  EXPECT_THAT(result.conclusion(), HasSubstr("\n1.50 times faster than the default placement"));
  EXPECT_THAT(result.conclusion(), HasSubstr("  with 2 hardware threads per core: 1.20 times as fast"));
}

TEST(TuneResult, WithoutAGainTheMappingIsReported) {
  TuneResult result = measured(1, 0.5);
  result.choose({candidate(0.8, 0), candidate(1, 1)});
  EXPECT_EQ(result.verdict(), TuneVerdict::slower);
  EXPECT_EQ(result.json()["other_placements"][0]["verdict"], "same");
  EXPECT_THAT(result.conclusion(), HasSubstr("keep the default placement"));
}

/// Hardware threads change the time outside of MPI.
TEST(TuneResult, OtherHardwareThreadsAreNotBoundedByTheShareOfMpi) {
  TuneResult result = measured(1, 0.1);
  result.choose({candidate(1.5, 0), candidate(1.4, 1)});
  EXPECT_EQ(result.json()["threads_per_core"], 1);
  EXPECT_TRUE(result.gain());
  EXPECT_EQ(result.json()["other_placements"][0]["verdict"], "faster_not_by_placement");
}

TEST(TuneResult, AMetricIsTheLastTimeThatTheProgramPrints) {
  const std::string output = "step 1: 5 ms\nstep 2: 12.5ms\nstep x: fast\ntotal: 3\n";
  EXPECT_DOUBLE_EQ(last_metric(output, "step [0-9x]+: (.*)").value_or(0), 0.0125);
  EXPECT_DOUBLE_EQ(last_metric(output, "total: ([0-9.]+)").value_or(0), 3);
  EXPECT_DOUBLE_EQ(last_metric("time per step:   5 ms \n", "time per step:(.*)").value_or(0), 0.005);
  EXPECT_FALSE(last_metric(output, "energy: ([0-9.]+)"));
  EXPECT_FALSE(last_metric("", "(.*)"));
  EXPECT_FALSE(last_metric(std::string(100000, 'a') + " time: 5", "time: (.*)"))
      << "only the beginning of a line counts";
}

TEST(TuneResult, ARateIsTheLastOneThatTheProgramPrints) {
  const auto rate = [](std::string_view output, const std::string& expression) {
    const auto found = last_rate(output, expression);
    return found ? fmt::format("{}|{}", found->value, found->unit) : "none";
  };
  EXPECT_EQ(rate("triad 10 GB/s\ntriad 12.5 GB/s\ntriad: done\n", "triad:? (.*)"), "12.5|GB/s");
  EXPECT_EQ(rate("1.5e3 GFLOP/s\n", "(.*)"), "1500|GFLOP/s");
  EXPECT_EQ(rate("rate 300 steps/s", "rate ([0-9]+)"), "300|");
  EXPECT_EQ(rate("5 events/s", "(.*)"), "5|events/s");
  EXPECT_EQ(rate("1 EB/s", "(.*)"), "1|EB/s");
  EXPECT_EQ(rate("rate 0 steps/s\nrate -1\nrate nan\nrate inf", "rate (.*)"), "none");
  EXPECT_DOUBLE_EQ((Rate{12.5, "GB/s"}).in("MB/s"), 12500);
  EXPECT_DOUBLE_EQ((Rate{2, "GiB/s"}).in("MiB/s"), 2048);
  EXPECT_DOUBLE_EQ((Rate{7, "steps/s"}).in("steps/s"), 7);
  EXPECT_DOUBLE_EQ((Rate{7, ""}).in(""), 7);
}

/// The ratio of rates is that of the times of one unit of work.
TEST(TuneResult, AHigherRateIsAGain) {
  TuneResult result = measured(1.12, std::nullopt);
  result.metric = "rate: (.*)";
  result.higher_is_better = true;
  result.unit = "GB/s";
  EXPECT_TRUE(result.gain());
  EXPECT_THAT(result.conclusion(), HasSubstr("1.12 times the rate of the default placement (1.0"));
  const Json json = result.json();
  EXPECT_FALSE(json.contains("before_seconds"));
  EXPECT_NEAR(json["before_rates"][0], 1 / 1.12, 1e-9);
  EXPECT_NEAR(json["after_rates"][0], 1, 1e-9);
  EXPECT_EQ(json["rate_unit"], "GB/s");
  result.measurement->after_seconds[2] = 8;
  EXPECT_THAT(result.conclusion(), HasSubstr("outlier: run 3 with the mapping had 0.125 GB/s, the median is 1 GB/s"));
  EXPECT_EQ(result.json()["outliers"][0]["rate"], 0.125);
  TuneResult lower = measured(0.8, std::nullopt);
  lower.higher_is_better = true;
  EXPECT_THAT(lower.conclusion(), HasSubstr("slower, not faster (0.80 times the rate"));
}

TEST(TuneResult, CandidatesAreListedWithTheirTimes) {
  TuneResult result = measured(1.5, std::nullopt);
  EXPECT_FALSE(result.json().contains("candidates"));
  result.candidates = {
      {.goal = "predicted", .name = "predicted on 4 nodes", .nodes = 4, .predicted_seconds = 1, .seconds = {2, 1, 9}},
      {.goal = "time", .name = "time on 1 node", .nodes = 1, .predicted_seconds = 2, .seconds = {1}, .chosen = true},
      {.goal = "bytes", .name = "bytes on 2 nodes", .nodes = 2, .predicted_seconds = 3},
      {.goal = "bytes", .name = "bytes on 8 nodes", .nodes = 8, .predicted_seconds = 4, .status = 9}};
  const Json rows = result.json()["candidates"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], Json::parse(R"({"goal":"predicted","nodes":4,"predicted_seconds":1.0,"seconds":[2.0,1.0,9.0],)"
                                 R"("chosen":false})"));
  EXPECT_TRUE(rows[1]["chosen"]);
  EXPECT_EQ(rows[3]["status"], 9);
  const std::string text = result.conclusion();
  EXPECT_THAT(text, HasSubstr("the fastest of these candidates was compared, by other runs:\n"));
  EXPECT_THAT(text, HasSubstr("    predicted on 4 nodes: 2 s, the median of 3 runs\n"));
  EXPECT_THAT(text, HasSubstr("    time on 1 node: 1 s, the median of 1 run, chosen\n"));
  EXPECT_THAT(text, HasSubstr("    bytes on 2 nodes: not run\n"));
  EXPECT_THAT(text, HasSubstr("    bytes on 8 nodes: the program exited with status 9\n"));
  result.higher_is_better = true;
  EXPECT_EQ(result.json()["candidates"][0]["rates"], Json({0.5, 1.0, 1.0 / 9}));
  EXPECT_FALSE(result.json()["candidates"][0].contains("seconds"));
}

/// A mapping for another goal may cost more: the cost is not the reason for a missing gain.
TEST(TuneResult, TheCostOfTheFastestCandidateIsNotAReason) {
  TuneResult result = measured(1, std::nullopt);
  result.cost = 3;
  EXPECT_THAT(result.reason(), HasSubstr("no mapping with a lower communication cost"));
  result.candidates.resize(2);
  EXPECT_THAT(result.reason(), HasSubstr("smaller than the differences between runs"));
  result.measurement.reset();
  result.candidates.clear();
  result.prediction = TunePrediction{.before_seconds = 1, .after_seconds = 1.25};
  EXPECT_THAT(result.reason(), HasSubstr("in a simulation the mapped program is 0.80 times as fast"));
}

/// The share of MPI in the whole program says nothing about a part of it.
TEST(TuneResult, AMetricIsNotBoundedByTheShareOfMpi) {
  TuneResult result = measured(1.5, 0.1);
  EXPECT_EQ(result.verdict(), TuneVerdict::not_by_placement);
  result.metric = "step: (.*)";
  EXPECT_EQ(result.verdict(), TuneVerdict::gain);
  EXPECT_EQ(result.json()["metric"], "step: (.*)");
}

TEST(TuneResult, AFailedRunIsNamedWithItsStatusAndItsLastLines) {
  TuneResult result;
  result.command = "mpirun -n 4 ./app";
  result.failed = FailedRun{"run 2 with the default placement", 3, "app.tune/before-2.log", {"no input file"}};
  const Error error = result.failed->error(result.command);
  EXPECT_THAT(error.what, HasSubstr("exited with status 3 in run 2 with the default placement"));
  EXPECT_THAT(error.what, HasSubstr("\n    no input file"));
  const Json json = result.json();
  EXPECT_EQ(json["status"], 3);
  EXPECT_EQ(json["verdict"], "failed");
  EXPECT_FALSE(json["gain"]);
}

}  // namespace
}  // namespace rankloom::app
