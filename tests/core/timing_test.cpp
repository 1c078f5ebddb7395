// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/timing.hpp"

#include <atomic>
#include <ctime>
#include <utility>

#include <gtest/gtest.h>

#include "rankloom/core/parallel.hpp"

namespace rankloom {
namespace {

double cpu_seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void work(double seconds) {
  const double end = cpu_seconds(CLOCK_THREAD_CPUTIME_ID) + seconds;
  while (cpu_seconds(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

const SectionTime* find(const SectionTime& outer, const std::string& name) {
  for (const SectionTime& part : outer.parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

TEST(Timing, SectionsAreParts) {
  Measurement measurement("all");
  for (int i = 0; i < 3; ++i) {
    const TimedSection outer("outer");
    work(0.002);
    const TimedSection inner("inner");
    work(0.001);
  }
  const SectionTime all = measurement.finish();
  EXPECT_EQ(all.name, "all");
  EXPECT_EQ(all.runs, 1U);
  ASSERT_EQ(all.parts.size(), 1U);
  const SectionTime& outer = all.parts[0];
  EXPECT_EQ(outer.name, "outer");
  EXPECT_EQ(outer.runs, 3U);
  ASSERT_EQ(outer.parts.size(), 1U);
  EXPECT_EQ(outer.parts[0].name, "inner");
  EXPECT_GE(outer.parts[0].cpu_seconds, 0.003);
  EXPECT_GE(outer.cpu_seconds, 0.009);
  EXPECT_GE(outer.cpu_seconds, outer.parts[0].cpu_seconds + 0.006);
  EXPECT_GE(all.cpu_seconds, outer.cpu_seconds);
}

TEST(Timing, LongestFirst) {
  Measurement measurement("all");
  for (const auto& [name, seconds] : {std::pair{"short", 0.001}, std::pair{"long", 0.02}}) {
    const TimedSection section(name);
    work(seconds);
  }
  const SectionTime all = measurement.finish();
  ASSERT_EQ(all.parts.size(), 2U);
  EXPECT_EQ(all.parts[0].name, "long");
}

TEST(Timing, CountsTheThreadsOfParallelLoops) {
  const double begin = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID);
  Measurement measurement("all");
  {
    const TimedSection outer("loop");
    parallel_chunks(8, 1, [](std::size_t, std::size_t) {
      const TimedSection inner("body");
      work(0.002);
      parallel_chunks(4, 1, [](std::size_t, std::size_t) {
        const TimedSection innermost("inner loop");
        work(0.001);
      });
    });
  }
  const SectionTime all = measurement.finish();
  const double used = cpu_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
  const SectionTime* const loop = find(all, "loop");
  ASSERT_NE(loop, nullptr);
  const SectionTime* const body = find(*loop, "body");
  ASSERT_NE(body, nullptr);
  EXPECT_EQ(body->runs, 8U);
  const SectionTime* const inner = find(*body, "inner loop");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->runs, 32U);
  EXPECT_GE(inner->cpu_seconds, 0.032);
  EXPECT_GE(body->cpu_seconds - inner->cpu_seconds, 0.016);
  // A thread that waits for the inner loop may work for another body: nothing counts twice.
  EXPECT_LE(all.cpu_seconds, used);
}

TEST(Timing, NothingOutsideAMeasurement) {
  {
    const TimedSection before("before");
    EXPECT_EQ(detail::current_section(), nullptr);
  }
  {
    Measurement measurement("all");
    EXPECT_NE(detail::current_section(), nullptr);
  }
  EXPECT_EQ(detail::current_section(), nullptr);
  std::atomic<int> measured = 0;
  parallel_chunks(100, 1, [&](std::size_t, std::size_t) { measured += detail::current_section() != nullptr; });
  EXPECT_EQ(measured, 0);
}

}  // namespace
}  // namespace rankloom
