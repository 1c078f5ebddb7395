// SPDX-License-Identifier: Apache-2.0
#include "rankloom/core/parallel.hpp"

#include <atomic>
#include <cmath>

#include <gtest/gtest.h>

namespace rankloom {
namespace {

TEST(Parallel, ChunksCoverEveryIndexOnce) {
  std::vector<std::atomic<int>> seen(100'003);
  parallel_chunks(seen.size(), 1000, [&](std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) ++seen[at];
  });
  for (const auto& count : seen) ASSERT_EQ(count, 1);
}

TEST(Parallel, ASumIsBitwiseEqualForAnyNumberOfThreads) {
  const auto sum = [] {
    return parallel_sum<double>(1'000'000, [](std::size_t begin, std::size_t end) {
      double part = 0;
      for (std::size_t at = begin; at < end; ++at) part += std::sqrt(static_cast<double>(at));
      return part;
    });
  };
  const double alone = [&] {
    const ThreadLimit limit(1);
    return sum();
  }();
  EXPECT_EQ(alone, sum());
  const ThreadLimit limit(2);
  EXPECT_EQ(alone, sum());
}

TEST(Parallel, CollectsInTheOrderOfTheRange) {
  const auto multiples = [](std::size_t count, std::size_t chunk) {
    return parallel_collect<std::size_t>(
        count,
        [](std::size_t begin, std::size_t end, std::vector<std::size_t>& found) {
          for (std::size_t at = begin; at < end; ++at)
            if (at % 3 == 0) found.push_back(at);
        },
        chunk);
  };
  for (const std::size_t count : {1U, 100U, 101U, 10'000U}) {
    const auto found = multiples(count, 100);
    ASSERT_EQ(found.size(), (count + 2) / 3);
    for (std::size_t at = 0; at < found.size(); ++at) ASSERT_EQ(found[at], 3 * at);
  }
  EXPECT_TRUE(multiples(0, 100).empty());
}

TEST(Parallel, OrdersItemsByTheirChunks) {
  for (const std::size_t threads : {1, 2, 5}) {
    const ThreadLimit limit(threads);
    for (const std::size_t count : {0U, 1U, 100U, 101U, 100'000U}) {
      std::vector<std::size_t> begins;
      std::atomic<std::size_t> sum = 0;
      parallel_ordered(
          count, 100, [](std::size_t begin, std::size_t end) { return std::pair(begin, end); },
          [&](const auto& item) { begins.push_back(item.first); },
          [&](const auto& item) { sum += item.second - item.first; });
      ASSERT_EQ(begins.size(), (count + 99) / 100);
      for (std::size_t at = 0; at < begins.size(); ++at) ASSERT_EQ(begins[at], 100 * at);
      EXPECT_EQ(sum, count);
    }
  }
}

TEST(Parallel, TasksBeginAfterTheirPredecessors) {
  constexpr std::uint32_t count = 1000;
  std::vector<std::vector<std::uint32_t>> successors(count);
  for (std::uint32_t task = 0; task < count; ++task) {
    for (const std::uint32_t distance : {7U, 7U, 30U})  // one of them twice
      if (task + distance < count) successors[task].push_back(task + distance);
  }
  std::vector<std::atomic<int>> done(count);
  std::atomic<int> early = 0;
  parallel_tasks(successors, [&](std::size_t task) {
    for (const std::size_t distance : {7U, 30U})
      if (task >= distance && done[task - distance] != 1) ++early;
    ++done[task];
  });
  EXPECT_EQ(early, 0);
  for (const auto& times : done) ASSERT_EQ(times, 1);
  parallel_tasks({}, [](std::size_t) { FAIL(); });
}

TEST(Parallel, AnEmptyRangeCallsNothing) {
  parallel_chunks(0, [](std::size_t, std::size_t) { FAIL(); });
  EXPECT_EQ((parallel_sum<int>(0, [](std::size_t, std::size_t) { return 1; })), 0);
}

}  // namespace
}  // namespace rankloom
