// SPDX-License-Identifier: Apache-2.0
// map/eager: which core each bin of a packing becomes.
#include "rankloom/map/eager/stay_home.hpp"

#include <algorithm>

namespace rankloom {
namespace {

struct Common {
  std::uint32_t bin, core;
  double load;
};

/// What each bin has in common with each core, the most first.
std::vector<Common> common_loads(std::span<const std::uint32_t> bin_of, std::span<const Core> home,
                                 std::span<const double> loads) {
  std::vector<Common> pairs;
  for (std::uint32_t rank = 0; rank < bin_of.size(); ++rank) {
    pairs.push_back({bin_of[rank], index(home[rank]), loads[rank]});
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Common& a, const Common& b) { return a.bin != b.bin ? a.bin < b.bin : a.core < b.core; });
  std::vector<Common> sums;
  for (const Common& pair : pairs) {
    if (!sums.empty() && sums.back().bin == pair.bin && sums.back().core == pair.core) {
      sums.back().load += pair.load;
    } else {
      sums.push_back(pair);
    }
  }
  std::stable_sort(sums.begin(), sums.end(), [](const Common& a, const Common& b) { return a.load > b.load; });
  return sums;
}

}  // namespace

std::vector<std::uint32_t> stay_home(std::span<const std::uint32_t> bin_of, std::span<const Core> home,
                                     std::span<const double> loads, std::span<const std::uint32_t> places) {
  constexpr std::uint32_t none = 0xffffffff;
  std::vector<std::uint32_t> core_for(places.size(), none);
  std::vector<bool> taken(places.size(), false);
  const auto join = [&](std::uint32_t bin, std::uint32_t core) {
    if (core_for[bin] != none || taken[core] || places[bin] != places[core]) return;
    core_for[bin] = core;
    taken[core] = true;
  };
  for (const Common& pair : common_loads(bin_of, home, loads)) join(pair.bin, pair.core);
  // Whoever is left takes what is left, in order: of each number of places there are as many bins as cores.
  std::vector<std::uint32_t> bins, cores;
  for (std::uint32_t at = 0; at < places.size(); ++at) {
    if (core_for[at] == none) bins.push_back(at);
    if (!taken[at]) cores.push_back(at);
  }
  const auto by_places = [&](std::uint32_t a, std::uint32_t b) { return places[a] < places[b]; };
  std::stable_sort(bins.begin(), bins.end(), by_places);
  std::stable_sort(cores.begin(), cores.end(), by_places);
  for (std::size_t at = 0; at < bins.size(); ++at) join(bins[at], cores[at]);
  std::vector<std::uint32_t> renamed;
  renamed.reserve(bin_of.size());
  for (const std::uint32_t bin : bin_of) renamed.push_back(core_for[bin]);
  return renamed;
}

}  // namespace rankloom
