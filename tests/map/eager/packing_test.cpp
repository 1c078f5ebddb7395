// SPDX-License-Identifier: Apache-2.0
#include "rankloom/map/eager/packing.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankloom/core/random.hpp"
#include "rankloom/map/eager/room_tree.hpp"
#include "rankloom/map/eager/stay_home.hpp"

namespace rankloom {
namespace {

using ::testing::ElementsAre;

/// Load of the heaviest bin; checks the places.
double heaviest(const std::vector<double>& loads, const std::vector<std::uint32_t>& places,
                const std::vector<std::uint32_t>& bin_of) {
  std::vector<double> sum(places.size(), 0);
  std::vector<std::uint32_t> count(places.size(), 0);
  for (std::size_t item = 0; item < loads.size(); ++item) {
    sum.at(bin_of.at(item)) += loads[item];
    EXPECT_LE(++count[bin_of[item]], places[bin_of[item]]);
  }
  return *std::max_element(sum.begin(), sum.end());
}

/// The lightest heaviest bin of all packings.
double optimum(const std::vector<double>& loads, const std::vector<std::uint32_t>& places) {
  std::vector<double> sum(places.size(), 0);
  std::vector<std::uint32_t> count(places.size(), 0);
  double best = 1e300;
  const std::function<void(std::size_t)> place = [&](std::size_t item) {
    if (item == loads.size()) {
      best = std::min(best, *std::max_element(sum.begin(), sum.end()));
      return;
    }
    for (std::size_t bin = 0; bin < places.size(); ++bin) {
      if (count[bin] == places[bin] || sum[bin] + loads[item] >= best) continue;
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

TEST(RoomTree, FindsTheNearestBinWithRoom) {
  Random random(1);
  for (const std::uint32_t count : {1, 2, 7, 8, 33}) {
    RoomTree tree(count);
    std::vector<double> room(count, RoomTree::none);
    for (int round = 0; round < 300; ++round) {
      const auto at = static_cast<std::uint32_t>(random.below(count));
      room[at] = random.below(4) == 0 ? RoomTree::none : random.unit();
      tree.set(at, room[at]);
      const auto from = static_cast<std::uint32_t>(random.below(count));
      const double need = random.unit();
      std::optional<std::uint32_t> after, before;
      for (std::uint32_t bin = from; bin < count && !after; ++bin) {
        if (room[bin] >= need) after = bin;
      }
      for (std::uint32_t bin = from + 1; bin-- > 0 && !before;) {
        if (room[bin] >= need) before = bin;
      }
      ASSERT_EQ(tree.at_or_after(from, need), after);
      ASSERT_EQ(tree.at_or_before(from, need), before);
    }
  }
}

TEST(Packing, ReachesTheGoalWhereverAnyPackingOfAFewItemsDoes) {
  int possible = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    Random random(seed);
    std::vector<double> loads(4 + random.below(6));
    for (double& load : loads) load = seed % 3 == 0 ? random.unit() : static_cast<double>(random.below(30));
    std::vector<std::uint32_t> places(2 + random.below(3), 9);
    if (seed % 2 == 0) {
      for (auto& count : places) count = static_cast<std::uint32_t>(random.below(4));
      while (std::accumulate(places.begin(), places.end(), 0u) < loads.size()) ++places[random.below(places.size())];
    }
    const double best = optimum(loads, places);
    const Packing packing = pack(loads, places, best * (1 + 1e-12));
    ASSERT_NEAR(packing.heaviest, heaviest(loads, places, packing.bin_of), 1e-9);
    EXPECT_LE(packing.heaviest, best * (1 + 1e-9)) << seed;
    ++possible;
  }
  EXPECT_EQ(possible, 150);
}

TEST(Packing, ComesNearTheAverageWithManyItems) {
  Random random(3);
  std::vector<double> loads(3000);
  for (double& load : loads) load = random.unit();
  const std::vector<std::uint32_t> places(500, 3000);
  const double average = std::accumulate(loads.begin(), loads.end(), 0.0) / 500;
  const Packing packing = pack(loads, places, average * 1.01);
  EXPECT_LE(heaviest(loads, places, packing.bin_of), average * 1.01);
}

TEST(Packing, EvensOutByMovingAndExchangingOnlyWhatHelps) {
  Packing packing{{0, 0, 0, 1, 2}, 12};
  const std::vector<double> loads{5, 4, 3, 1, 6};
  const std::vector<std::uint32_t> places{3, 3, 3};
  even_out(loads, places, 7, packing);
  EXPECT_LE(heaviest(loads, places, packing.bin_of), 7);
  EXPECT_EQ(packing.bin_of[4], 2u);
  // Nobody is above the goal: nothing happens.
  const auto before = packing.bin_of;
  even_out(loads, places, 7, packing);
  EXPECT_EQ(packing.bin_of, before);
}

TEST(Packing, EvensOutByExchangesWhereNoBinHasAPlaceLeft) {
  Packing packing{{0, 0, 1, 1}, 18};
  const std::vector<double> loads{9, 9, 1, 1};
  even_out(loads, std::vector<std::uint32_t>{2, 2}, 10, packing);
  EXPECT_EQ(packing.heaviest, 10);
  EXPECT_EQ(heaviest(loads, {2, 2}, packing.bin_of), 10);
}

TEST(StayHome, NamesBinsSoThatMuchLoadStays) {
  // Bin 0 holds mostly what was on core 2, bin 2 a little of core 2 and of core 0.
  const std::vector<std::uint32_t> bin_of{0, 0, 2, 2, 1};
  const std::vector<Core> home{Core{2}, Core{2}, Core{2}, Core{0}, Core{1}};
  const std::vector<double> loads{5, 4, 3, 1, 2};
  EXPECT_THAT(stay_home(bin_of, home, loads, std::vector<std::uint32_t>{9, 9, 9}), ElementsAre(2, 2, 0, 0, 1));
  // Core 2 has other places than bin 0.
  EXPECT_THAT(stay_home(bin_of, home, loads, std::vector<std::uint32_t>{9, 9, 8}), ElementsAre(0, 0, 2, 2, 1));
}

}  // namespace
}  // namespace rankloom
