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

TEST(Parallel, AnEmptyRangeCallsNothing) {
  parallel_chunks(0, [](std::size_t, std::size_t) { FAIL(); });
  EXPECT_EQ((parallel_sum<int>(0, [](std::size_t, std::size_t) { return 1; })), 0);
}

}  // namespace
}  // namespace rankloom
