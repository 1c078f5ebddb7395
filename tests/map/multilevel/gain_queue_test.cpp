// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/refinement/gain_queue.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom::multilevel {
namespace {

/// A reference implementation that searches all vertices.
struct ReferenceQueue {
  std::map<std::uint32_t, std::pair<double, int>> inside;  // vertex → gain, time of the last change
  int clock = 0;

  void set(std::uint32_t vertex, double gain) { inside[vertex] = {gain, ++clock}; }
  std::uint32_t top() const {
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::max_element(inside.begin(), inside.end(), less)->first;
  }
};

TEST(GainQueue, AgreesWithAReferenceImplementationUnderRandomChanges) {
  constexpr std::uint32_t vertices = 40;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    QueuePositions positions(vertices);
    std::vector<GainQueue> queues(2, GainQueue(positions));
    std::vector<ReferenceQueue> reference(2);
    for (int step = 0; step < 4000; ++step) {
      const auto vertex = static_cast<std::uint32_t>(random.below(vertices));
      const std::size_t own = vertex % 2;
      const auto action = random.below(20);
      if (action == 0) {
        queues[own].clear();
        reference[own].inside.clear();
      } else if (action < 13) {
        const auto gain = static_cast<double>(random.below(12));  // many are equal
        queues[own].set(vertex, gain);
        reference[own].set(vertex, gain);
      } else if (action < 17 && queues[own].contains(vertex)) {
        queues[own].remove(vertex);
        reference[own].inside.erase(vertex);
      } else if (!queues[own].empty()) {
        reference[own].inside.erase(reference[own].top());
        queues[own].pop();
      }
      for (const std::size_t at : {0, 1}) {
        ASSERT_EQ(queues[at].size(), reference[at].inside.size());
        if (queues[at].empty()) continue;
        ASSERT_EQ(queues[at].top(), reference[at].top());
        ASSERT_EQ(queues[at].top_gain(), reference[at].inside[reference[at].top()].first);
      }
      ASSERT_EQ(queues[own].contains(vertex), reference[own].inside.contains(vertex));
      if (queues[own].contains(vertex)) {
        ASSERT_EQ(queues[own].gain(vertex), reference[own].inside[vertex].first);
      }
    }
  }
}

TEST(GainQueue, PrefersTheLastOneSetAmongEqualGains) {
  QueuePositions positions(3);
  GainQueue queue(positions);
  for (const std::uint32_t vertex : {2, 0, 1}) queue.set(vertex, 5);
  EXPECT_EQ(queue.pop(), 1);
  EXPECT_EQ(queue.pop(), 0);
  EXPECT_EQ(queue.pop(), 2);
  EXPECT_TRUE(queue.empty());
}

}  // namespace
}  // namespace rankloom::multilevel
