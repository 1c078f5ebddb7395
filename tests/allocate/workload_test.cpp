// SPDX-License-Identifier: Apache-2.0
#include "rankloom/allocate/workload/workload.hpp"

#include <cmath>
#include <filesystem>
#include <optional>
#include <span>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "rankloom/core/system/file.hpp"

namespace rankloom {
namespace {

using ::testing::HasSubstr;

constexpr const char* two_jobs =
    "; MaxProcs: 100\n"
    "7 10 -1 60 4 -1 -1 8 120 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
    "8 5 -1 30 2 -1 -1 -1 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n";

TEST(Swf, ReadsJobsAndTheMachineSize) {
  const auto workload = read_swf(FileContents("two.swf", two_jobs));
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->machine_size, 100);
  ASSERT_EQ(workload->jobs.size(), 2);
  EXPECT_EQ(workload->jobs[0].number, 8);  // by time of submission
  EXPECT_EQ(workload->jobs[0].tasks, 2);   // allocated, because none are requested
  EXPECT_EQ(workload->jobs[0].estimate, 30);
  EXPECT_EQ(workload->jobs[1].tasks, 8);  // requested
  EXPECT_EQ(workload->jobs[1].estimate, 120);
}

TEST(Swf, CountsAndSkipsMalformedLines) {
  const auto workload = read_swf(
      FileContents("odd.swf", std::string(two_jobs) + "1 2 3\n9 x -1 1 1 -1 -1 1 1 -1 1 -1 -1 -1 -1 -1 -1 -1\n"));
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->jobs.size(), 2);
  EXPECT_EQ(workload->malformed, 2);
  EXPECT_EQ(workload->first_malformed_line, 4);
  EXPECT_EQ(workload->first_malformed, "the line has 3 numbers instead of 18");
}

TEST(Swf, NumbersThatNoMachineHasAreMalformed) {
  const auto workload = read_swf(
      FileContents("odd.swf", std::string(two_jobs) + "1e300 1 -1 5 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"
                                                      "9 1e300 -1 1e300 4 -1 -1 4 60 -1 1 -1 -1 -1 -1 -1 -1 -1\n"));
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->jobs.size(), 2);
  EXPECT_EQ(workload->malformed, 2);
  EXPECT_EQ(workload->first_malformed, "'1e300' is larger than 1e+15");
}

TEST(Swf, LeavesOutJobsThatNeverRan) {
  const auto workload =
      read_swf(FileContents("odd.swf", std::string(two_jobs) + "9 1 -1 0 4 -1 -1 4 60 -1 5 -1 -1 -1 -1 -1 -1 -1\n"));
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->without_work, 1);
  EXPECT_EQ(workload->jobs.size(), 2);
}

TEST(Swf, RefusesAFileWithoutJobs) {
  const auto nothing = read_swf(FileContents("prose.txt", "no job in\nthis file\n"));
  ASSERT_FALSE(nothing);
  EXPECT_THAT(to_string(nothing.error()), HasSubstr("prose.txt:1"));
  EXPECT_FALSE(read_swf(FileContents("empty.swf", "")));
}

TEST(Swf, ReadsCompressedFiles) {
  const auto workload = load_workload(RANKLOOM_TEST_DATA "/workloads/KTH-SP2-1996-2.1-cln.swf.gz");
  ASSERT_TRUE(workload) << to_string(workload.error());
  EXPECT_EQ(workload->jobs.size() + workload->without_work, 28476);
  EXPECT_EQ(workload->malformed, 0);
  EXPECT_EQ(workload->machine_size, 100);
}

TEST(Swf, RefusesATruncatedCompressedFile) {
  const auto whole = read_file(RANKLOOM_TEST_DATA "/workloads/lublin-256.swf.gz");
  ASSERT_TRUE(whole);
  const std::string path = ::testing::TempDir() + "/cut.swf.gz";
  ASSERT_TRUE(write_file(path, whole->view().substr(0, 5000)));
  const auto cut = load_workload(path);
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().what, HasSubstr("truncated"));
  std::filesystem::remove(path);
}

TEST(Swf, RefusesACompressedFileWithFarMoreContentThanAWorkload) {
  const std::string blanks(std::size_t{300} << 20, '\n');
  const std::string path = ::testing::TempDir() + "/bomb.swf.gz";
  gzFile file = gzopen(path.c_str(), "wb9");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(gzwrite(file, blanks.data(), static_cast<unsigned>(blanks.size())), static_cast<int>(blanks.size()));
  ASSERT_EQ(gzclose(file), Z_OK);
  const auto bomb = load_workload(path);
  ASSERT_FALSE(bomb);
  EXPECT_THAT(bomb.error().what, HasSubstr("is larger than"));
  EXPECT_THAT(bomb.error().hint, HasSubstr("gunzip"));
  std::filesystem::remove(path);
}

TEST(Swf, IsReadBackAsWritten) {
  const auto made = lublin_workload({.jobs = 200, .nodes = 64});
  ASSERT_TRUE(made);
  const auto read = read_swf(FileContents("made.swf", write_swf(*made)));
  ASSERT_TRUE(read);
  ASSERT_EQ(read->jobs.size(), 200);
  EXPECT_EQ(read->machine_size, 64);
  for (std::size_t i = 0; i < 200; ++i) {
    EXPECT_EQ(read->jobs[i].tasks, made->jobs[i].tasks);
    EXPECT_EQ(read->jobs[i].run, made->jobs[i].run);
    EXPECT_EQ(read->jobs[i].submit, made->jobs[i].submit);
  }
}

// The published distribution: fractions and moments that follow from the parameters of the paper.
struct Moments {
  double mean = 0, deviation = 0;
};

template <class Value>
Moments moments(std::span<const WorkloadJob> jobs, const Value& value) {
  double sum = 0, squares = 0;
  std::size_t count = 0;
  for (const WorkloadJob& job : jobs) {
    if (const auto x = value(job)) sum += *x, squares += *x * *x, ++count;
  }
  const double mean = sum / static_cast<double>(count);
  return {mean, std::sqrt(squares / static_cast<double>(count) - mean * mean)};
}

TEST(Lublin, HasThePublishedSizes) {
  const auto made = lublin_workload({.jobs = 100'000, .nodes = 256, .seed = 5});
  ASSERT_TRUE(made);
  double serial = 0, powers = 0, largest = 0;
  for (const WorkloadJob& job : made->jobs) {
    serial += job.tasks == 1 ? 1 : 0;
    powers += job.tasks > 1 && (job.tasks & (job.tasks - 1)) == 0 ? 1 : 0;
    largest = std::max(largest, static_cast<double>(job.tasks));
  }
  EXPECT_NEAR(serial / 1e5, 0.244, 0.005);
  EXPECT_GT(powers / 1e5, 0.576);  // others are powers of two by chance
  EXPECT_LT(powers / 1e5, 0.65);
  EXPECT_LE(largest, 256);
  // log2 of the size of parallel jobs: 0.86 of them uniform in 0.8..5.5, the others in 5.5..8.
  const auto logs = moments(made->jobs, [](const WorkloadJob& job) {
    return job.tasks > 1 ? std::optional(std::log2(static_cast<double>(job.tasks))) : std::nullopt;
  });
  EXPECT_NEAR(logs.mean, 0.86 * (0.8 + 5.5) / 2 + 0.14 * (5.5 + 8) / 2, 0.05);
}

TEST(Lublin, HasThePublishedRunTimes) {
  const auto made = lublin_workload({.jobs = 100'000, .nodes = 256, .seed = 6});
  ASSERT_TRUE(made);
  // For jobs of one node: ln of the run time is gamma(4.2, 0.94) for 0.7746 of them, gamma(312, 0.03) for the others;
  // values above 12 are drawn again; the sum below integrates this numerically.
  const auto logs = moments(made->jobs, [](const WorkloadJob& job) {
    return job.tasks == 1 ? std::optional(std::log(job.run)) : std::nullopt;
  });
  const auto density = [](double x, double shape, double scale) {
    return std::exp((shape - 1) * std::log(x) - x / scale - std::lgamma(shape) - shape * std::log(scale));
  };
  double weight = 0, mean = 0;
  for (double x = 0.0005; x < 12; x += 0.001) {
    const double p = 0.7746 * density(x, 4.2, 0.94) + 0.2254 * density(x, 312, 0.03);
    weight += p;
    mean += p * x;
  }
  EXPECT_NEAR(logs.mean, mean / weight, 0.06);
}

TEST(Lublin, AgreesWithSamplesOfThePublishedProgram) {
  // A workload that the authors' own program generated for 256 nodes, compared with ours.
  const auto theirs = load_workload(RANKLOOM_TEST_DATA "/workloads/lublin-256.swf.gz");
  const auto ours = lublin_workload({.jobs = 10'000, .nodes = 256, .seed = 1});
  ASSERT_TRUE(theirs);
  ASSERT_TRUE(ours);
  const auto run = [](const WorkloadJob& job) { return std::optional(std::log(job.run)); };
  const auto size = [](const WorkloadJob& job) { return std::optional(std::log2(static_cast<double>(job.tasks))); };
  EXPECT_NEAR(moments(ours->jobs, run).mean, moments(theirs->jobs, run).mean, 0.25);
  EXPECT_NEAR(moments(ours->jobs, run).deviation, moments(theirs->jobs, run).deviation, 0.25);
  EXPECT_NEAR(moments(ours->jobs, size).mean, moments(theirs->jobs, size).mean, 0.25);
  EXPECT_NEAR(moments(ours->jobs, size).deviation, moments(theirs->jobs, size).deviation, 0.25);
  const auto interarrival_at = [](const Workload& workload, double fraction) {
    std::vector<double> interarrival_times;
    for (std::size_t i = 1; i < workload.jobs.size(); ++i)
      interarrival_times.push_back(workload.jobs[i].submit - workload.jobs[i - 1].submit);
    std::sort(interarrival_times.begin(), interarrival_times.end());
    return interarrival_times[static_cast<std::size_t>(fraction * static_cast<double>(interarrival_times.size()))];
  };
  for (const double fraction : {0.1, 0.25, 0.5, 0.75, 0.9})
    EXPECT_NEAR(interarrival_at(*ours, fraction) / interarrival_at(*theirs, fraction), 1, 0.15) << fraction;
}

TEST(Lublin, HasThePublishedMeanBetweenArrivals) {
  // exp of gamma(10.2303 * 1.0225, 0.4871), values above 13 drawn again: 911 s. The tail is heavy, so the test needs
  // many jobs.
  const auto made = lublin_workload({.jobs = 300'000, .nodes = 2, .seed = 1});
  ASSERT_TRUE(made);
  EXPECT_NEAR(made->jobs.back().submit / 300'000, 911.3, 45);
}

TEST(Lublin, KeepsTheDailyCycle) {
  const auto made = lublin_workload({.jobs = 50'000, .nodes = 128});
  std::vector<int> by_hour(24);
  for (const WorkloadJob& job : made->jobs) ++by_hour[static_cast<std::size_t>(job.submit / 3600) % 24];
  const auto busiest = std::max_element(by_hour.begin(), by_hour.end()) - by_hour.begin();
  const auto quietest = std::min_element(by_hour.begin(), by_hour.end()) - by_hour.begin();
  EXPECT_GE(busiest, 11);
  EXPECT_LE(busiest, 17);
  EXPECT_TRUE(quietest <= 8) << quietest;
  EXPECT_GT(by_hour[static_cast<std::size_t>(busiest)], 4 * by_hour[static_cast<std::size_t>(quietest)]);
}

TEST(Lublin, FitsMachinesOfAnySize) {
  for (const std::uint64_t nodes : {1ULL, 2ULL, 3ULL, 7ULL, 100ULL, 16384ULL, 1000000ULL}) {
    const auto made = lublin_workload({.jobs = 500, .nodes = nodes});
    ASSERT_TRUE(made);
    for (const WorkloadJob& job : made->jobs) {
      EXPECT_GE(job.tasks, 1);
      EXPECT_LE(job.tasks, nodes);
    }
  }
  EXPECT_FALSE(lublin_workload({.jobs = 0}));
}

}  // namespace
}  // namespace rankloom
