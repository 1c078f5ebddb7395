// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/multilevel/gain_heap.hpp"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"

namespace rankloom::multilevel {
namespace {

/// The same by looking at everybody.
struct PlainHeap {
  std::map<std::uint32_t, std::pair<double, int>> inside;  // vertex → gain, age
  int clock = 0;

  void set(std::uint32_t vertex, double gain) { inside[vertex] = {gain, ++clock}; }
  std::uint32_t top() const {
    const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
    return std::max_element(inside.begin(), inside.end(), less)->first;
  }
};

TEST(GainHeap, AgreesWithASortedListUnderRandomChanges) {
  constexpr std::uint32_t vertices = 40;
  for (const std::uint64_t seed : {1, 2, 3}) {
    Random random(seed);
    HeapPlaces places(vertices);
    std::vector<GainHeap> heaps(2, GainHeap(places));
    std::vector<PlainHeap> plain(2);
    for (int step = 0; step < 4000; ++step) {
      const auto vertex = static_cast<std::uint32_t>(random.below(vertices));
      const std::size_t own = vertex % 2;
      const auto action = random.below(20);
      if (action == 0) {
        heaps[own].clear();
        plain[own].inside.clear();
      } else if (action < 13) {
        const auto gain = static_cast<double>(random.below(12));  // many are equal
        heaps[own].set(vertex, gain);
        plain[own].set(vertex, gain);
      } else if (action < 17 && heaps[own].contains(vertex)) {
        heaps[own].remove(vertex);
        plain[own].inside.erase(vertex);
      } else if (!heaps[own].empty()) {
        plain[own].inside.erase(plain[own].top());
        heaps[own].pop();
      }
      for (const std::size_t heap : {0, 1}) {
        ASSERT_EQ(heaps[heap].size(), plain[heap].inside.size());
        if (heaps[heap].empty()) continue;
        ASSERT_EQ(heaps[heap].top(), plain[heap].top());
        ASSERT_EQ(heaps[heap].top_gain(), plain[heap].inside[plain[heap].top()].first);
      }
      ASSERT_EQ(heaps[own].contains(vertex), plain[own].inside.contains(vertex));
      if (heaps[own].contains(vertex)) {
        ASSERT_EQ(heaps[own].gain(vertex), plain[own].inside[vertex].first);
      }
    }
  }
}

TEST(GainHeap, PutsTheLastComerOfEqualsOnTop) {
  HeapPlaces places(3);
  GainHeap heap(places);
  for (const std::uint32_t vertex : {2, 0, 1}) heap.set(vertex, 5);
  EXPECT_EQ(heap.pop(), 1);
  EXPECT_EQ(heap.pop(), 0);
  EXPECT_EQ(heap.pop(), 2);
  EXPECT_TRUE(heap.empty());
}

}  // namespace
}  // namespace rankloom::multilevel
