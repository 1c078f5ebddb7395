// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/eager/bin_packing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/max_segment_tree.hpp"
#include "rankloom/core/random.hpp"
#include "rankloom/map/eager/overload_removal.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

/// The largest load of a bin; checks the numbers of items.
double max_bin_load(const std::vector<double>& loads, const std::vector<std::uint32_t>& max_items,
                    const std::vector<std::uint32_t>& bin_of) {
  std::vector<double> sum(max_items.size(), 0);
  std::vector<std::uint32_t> count(max_items.size(), 0);
  for (std::size_t item = 0; item < loads.size(); ++item) {
    sum.at(bin_of.at(item)) += loads[item];
    EXPECT_LE(++count[bin_of[item]], max_items[bin_of[item]]);
  }
  return *std::max_element(sum.begin(), sum.end());
}

/// The smallest maximum load of all packings.
double optimum(const std::vector<double>& loads, const std::vector<std::uint32_t>& max_items) {
  std::vector<double> sum(max_items.size(), 0);
  std::vector<std::uint32_t> count(max_items.size(), 0);
  double best = 1e300;
  const std::function<void(std::size_t)> place = [&](std::size_t item) {
    if (item == loads.size()) {
      best = std::min(best, *std::max_element(sum.begin(), sum.end()));
      return;
    }
    for (std::size_t bin = 0; bin < max_items.size(); ++bin) {
      if (count[bin] == max_items[bin] || sum[bin] + loads[item] >= best) continue;
      ++count[bin];
      sum[bin] += loads[item];
      place(item + 1);
      sum[bin] -= loads[item];
      --count[bin];
    }
  };
  place(0);
  return best;
}

TEST(MaxSegmentTree, FindsTheNextPositionWithALargeEnoughValue) {
  Random random(1);
  for (const std::uint32_t count : {1, 2, 7, 8, 33}) {
    MaxSegmentTree<double> tree(count);
    std::vector<double> values(count, MaxSegmentTree<double>::none);
    for (int round = 0; round < 300; ++round) {
      const auto at = static_cast<std::uint32_t>(random.below(count));
      values[at] = random.below(4) == 0 ? MaxSegmentTree<double>::none : random.unit();
      tree.set(at, values[at]);
      const auto from = static_cast<std::uint32_t>(random.below(count));
      const double min = random.unit();
      std::optional<std::uint32_t> after, before;
      for (std::uint32_t position = from; position < count && !after; ++position) {
        if (values[position] >= min) after = position;
      }
      for (std::uint32_t position = from + 1; position-- > 0 && !before;) {
        if (values[position] >= min) before = position;
      }
      ASSERT_EQ(tree.first_at_or_after(from, min), after);
      ASSERT_EQ(tree.last_at_or_before(from, min), before);
    }
  }
}

TEST(PackBins, ReachesTheOptimumOfAFewItems) {
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    std::vector<double> loads(4 + random.below(6));
    for (double& load : loads) load = seed % 3 == 0 ? random.unit() : static_cast<double>(random.below(30));
    std::vector<std::uint32_t> max_items(2 + random.below(3), 9);
    if (seed % 2 == 0) {
      for (auto& count : max_items) count = static_cast<std::uint32_t>(random.below(4));
      while (std::accumulate(max_items.begin(), max_items.end(), 0u) < loads.size())
        ++max_items[random.below(max_items.size())];
    }
    const double best = optimum(loads, max_items);
    const Packing packing = pack_bins(loads, max_items, best * (1 + 1e-12));
    ASSERT_NEAR(packing.max_load, max_bin_load(loads, max_items, packing.bin_of), 1e-9);
    EXPECT_LE(packing.max_load, best * (1 + 1e-9)) << seed;
    ++possible;
  }
  EXPECT_EQ(possible, 150);
}

TEST(PackBins, IsCloseToTheAverageWithManyItems) {
  Random random(3);
  std::vector<double> loads(3000);
  for (double& load : loads) load = random.unit();
  const std::vector<std::uint32_t> max_items(500, 3000);
  const double average = std::accumulate(loads.begin(), loads.end(), 0.0) / 500;
  const Packing packing = pack_bins(loads, max_items, average * 1.01);
  EXPECT_LE(max_bin_load(loads, max_items, packing.bin_of), average * 1.01);
}

TEST(BalanceBins, MovesAndExchangesOnlyItemsThatReduceTheMaximum) {
  Packing packing{{0, 0, 0, 1, 2}, 12};
  const std::vector<double> loads{5, 4, 3, 1, 6};
  const std::vector<std::uint32_t> max_items{3, 3, 3};
  balance_bins(loads, max_items, 7, packing);
  EXPECT_LE(max_bin_load(loads, max_items, packing.bin_of), 7);
  EXPECT_EQ(packing.bin_of[4], 2u);
  // No bin exceeds the goal any more, so a second call changes nothing.
  const auto before = packing.bin_of;
  balance_bins(loads, max_items, 7, packing);
  EXPECT_EQ(packing.bin_of, before);
}

TEST(BalanceBins, ExchangesItemsWhenAllBinsAreFull) {
  Packing packing{{0, 0, 1, 1}, 18};
  const std::vector<double> loads{9, 9, 1, 1};
  balance_bins(loads, std::vector<std::uint32_t>{2, 2}, 10, packing);
  EXPECT_EQ(packing.max_load, 10);
  EXPECT_EQ(max_bin_load(loads, {2, 2}, packing.bin_of), 10);
}

TEST(MatchBinsToCores, KeepsMuchLoadOnItsCore) {
  // Bin 0 contains most of the load of core 2, bin 2 a little of core 2 and of core 0.
  const std::vector<std::uint32_t> bin_of{0, 0, 2, 2, 1};
  const std::vector<Core> current{Core{2}, Core{2}, Core{2}, Core{0}, Core{1}};
  const std::vector<double> loads{5, 4, 3, 1, 2};
  EXPECT_THAT(match_bins_to_cores(bin_of, current, loads, std::vector<std::uint32_t>{9, 9, 9}),
              ElementsAre(2, 2, 0, 0, 1));
  // Core 2 and bin 0 allow different numbers of ranks.
  EXPECT_THAT(match_bins_to_cores(bin_of, current, loads, std::vector<std::uint32_t>{9, 9, 8}),
              ElementsAre(0, 0, 2, 2, 1));
}

}  // namespace
}  // namespace rankloom
