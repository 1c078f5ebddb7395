// SPDX-License-Identifier: Apache-2.0
// map/eager: loads in bins.
#include "rankloom/map/eager/packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "rankloom/map/eager/room_tree.hpp"

namespace rankloom {
namespace {

constexpr std::uint64_t most_steps_of_exact_search = 200'000;
constexpr std::size_t few_items = 256;
constexpr int multifit_rounds = 12;
constexpr std::size_t most_partners = 64;
constexpr double rounding = 1e-12;

using Order = std::span<const std::uint32_t>;

std::vector<std::uint32_t> by_falling_load(std::span<const double> loads) {
  std::vector<std::uint32_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return loads[a] > loads[b]; });
  return order;
}

double heaviest(std::span<const double> loads, std::size_t bins, std::span<const std::uint32_t> bin_of) {
  std::vector<double> sum(bins, 0.0);
  for (std::size_t item = 0; item < loads.size(); ++item) sum[bin_of[item]] += loads[item];
  return sum.empty() ? 0 : *std::max_element(sum.begin(), sum.end());
}

/// Each item into the first bin that can take it; none when one fits nowhere.
std::optional<std::vector<std::uint32_t>> first_fit(std::span<const double> loads, Order order,
                                                    std::span<const std::uint32_t> places, double limit) {
  RoomTree room(places.size());
  std::vector<std::uint32_t> left(places.begin(), places.end()), bin_of(loads.size());
  for (std::uint32_t bin = 0; bin < places.size(); ++bin) room.set(bin, left[bin] > 0 ? limit : RoomTree::none);
  for (const std::uint32_t item : order) {
    const auto bin = places.empty() ? std::nullopt : room.at_or_after(0, loads[item]);
    if (!bin) return std::nullopt;
    bin_of[item] = *bin;
    room.set(*bin, --left[*bin] > 0 ? room[*bin] - loads[item] : RoomTree::none);
  }
  return bin_of;
}

/// Each item into the lightest bin with a place.
std::vector<std::uint32_t> onto_lightest(std::span<const double> loads, Order order,
                                         std::span<const std::uint32_t> places) {
  using Bin = std::pair<double, std::uint32_t>;
  std::priority_queue<Bin, std::vector<Bin>, std::greater<>> lightest;
  std::vector<std::uint32_t> left(places.begin(), places.end()), bin_of(loads.size());
  for (std::uint32_t bin = 0; bin < places.size(); ++bin) {
    if (left[bin] > 0) lightest.emplace(0.0, bin);
  }
  for (const std::uint32_t item : order) {
    const auto [load, bin] = lightest.top();
    lightest.pop();
    bin_of[item] = bin;
    if (--left[bin] > 0) lightest.emplace(load + loads[item], bin);
  }
  return bin_of;
}

/// Depth first: the items by falling load, each into every bin that differs from those tried before it.
class ExactSearch {
 public:
  ExactSearch(std::span<const double> loads, Order order, std::span<const std::uint32_t> places, double limit)
      : loads_(loads), order_(order), left_(places.begin(), places.end()), room_(places.size(), limit) {
    double total = 0, usable = 0;
    for (const double load : loads) total += load;
    for (const std::uint32_t count : places) usable += count > 0 ? 1 : 0;
    waste_ = limit * usable - total;
    bin_of_.resize(loads.size());
    least_ = loads.empty() ? 0 : loads[order.back()];
  }

  std::optional<std::vector<std::uint32_t>> run() {
    if (waste_ < 0 || !place(0)) return std::nullopt;
    return bin_of_;
  }

 private:
  bool place(std::size_t depth) {
    if (depth == order_.size()) return true;
    if (++steps_ > most_steps_of_exact_search) return false;
    const std::uint32_t item = order_[depth];
    std::vector<std::pair<double, std::uint32_t>> tried;  // room and places of bins that are all the same
    for (std::uint32_t bin = 0; bin < left_.size(); ++bin) {
      if (left_[bin] == 0 || room_[bin] < loads_[item]) continue;
      const std::pair same{room_[bin], left_[bin]};
      if (std::find(tried.begin(), tried.end(), same) != tried.end()) continue;
      tried.push_back(same);
      // Room that nobody can use any more is lost; there is only so much to lose.
      room_[bin] -= loads_[item];
      --left_[bin];
      const double lost = room_[bin] < least_ || left_[bin] == 0 ? room_[bin] : 0;
      waste_ -= lost;
      bin_of_[item] = bin;
      if (waste_ >= 0 && place(depth + 1)) return true;
      waste_ += lost;
      room_[bin] = same.first;
      ++left_[bin];
      if (steps_ > most_steps_of_exact_search) return false;
    }
    return false;
  }

  std::span<const double> loads_;
  Order order_;
  std::vector<std::uint32_t> left_;
  std::vector<double> room_;
  std::vector<std::uint32_t> bin_of_;
  double waste_ = 0, least_ = 0;
  std::uint64_t steps_ = 0;
};

/// The bins of a packing while they are evened out.
class Evening {
 public:
  Evening(std::span<const double> loads, std::span<const std::uint32_t> places, Packing& packing)
      : loads_(loads), places_(places), packing_(packing), items_(places.size()), sum_(places.size(), 0.0) {
    for (const std::uint32_t item : by_falling_load(loads)) {
      items_[packing.bin_of[item]].push_back(item);
      sum_[packing.bin_of[item]] += loads[item];
    }
    for (std::uint32_t bin = 0; bin < places.size(); ++bin) {
      if (places[bin] > 0) by_load_.emplace(sum_[bin], bin);
    }
  }

  void run(double goal) {
    if (by_load_.empty()) return;
    const std::size_t most_steps = 20 * by_load_.size() + 1000;
    for (std::size_t step = 0; step < most_steps; ++step) {
      const auto [load, heavy] = *by_load_.rbegin();
      if (load <= goal) break;
      Exchange best;
      best.heavier = load * (1 - rounding);
      std::size_t partners = 0;
      for (const auto& [light_load, light] : by_load_) {
        if (light == heavy || ++partners > most_partners || best.heavier <= goal) break;
        look(heavy, light, best);
      }
      if (!best.found) break;
      apply(heavy, best);
    }
    packing_.heaviest = by_load_.rbegin()->first;
  }

 private:
  static constexpr std::uint32_t nothing = 0xffffffff;
  struct Exchange {
    bool found = false;
    double heavier = 0;  // load of the heavier of the two bins afterwards
    std::uint32_t bin = 0, give = nothing, get = nothing;
  };

  /// For each item of the heavy bin, what comes nearest to evening the two bins out: nothing, or one of the two items
  /// of the light bin around the right load.
  void look(std::uint32_t heavy, std::uint32_t light, Exchange& best) {
    const double wanted = (sum_[heavy] - sum_[light]) / 2;
    const auto offer = [&](std::uint32_t give, std::uint32_t get) {
      const double shift = loads_[give] - (get == nothing ? 0 : loads_[get]);
      const double heavier = std::max(sum_[heavy] - shift, sum_[light] + shift);
      if (heavier < best.heavier) best = {true, heavier, light, give, get};
    };
    const auto& others = items_[light];
    for (const std::uint32_t give : items_[heavy]) {
      if (loads_[give] <= 0) break;
      if (others.size() < places_[light]) offer(give, nothing);
      const auto at = std::partition_point(others.begin(), others.end(),
                                           [&](std::uint32_t get) { return loads_[get] > loads_[give] - wanted; });
      if (at != others.end()) offer(give, *at);
      if (at != others.begin()) offer(give, *std::prev(at));
    }
  }

  void apply(std::uint32_t heavy, const Exchange& exchange) {
    by_load_.erase({sum_[heavy], heavy});
    by_load_.erase({sum_[exchange.bin], exchange.bin});
    transfer(exchange.give, heavy, exchange.bin);
    if (exchange.get != nothing) transfer(exchange.get, exchange.bin, heavy);
    for (const std::uint32_t bin : {heavy, exchange.bin}) {
      sum_[bin] = 0;
      for (const std::uint32_t item : items_[bin]) sum_[bin] += loads_[item];
      by_load_.emplace(sum_[bin], bin);
    }
  }

  void transfer(std::uint32_t item, std::uint32_t from, std::uint32_t to) {
    items_[from].erase(std::find(items_[from].begin(), items_[from].end(), item));
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
      return loads_[a] != loads_[b] ? loads_[a] > loads_[b] : a < b;
    };
    items_[to].insert(std::lower_bound(items_[to].begin(), items_[to].end(), item, before), item);
    packing_.bin_of[item] = to;
  }

  std::span<const double> loads_;
  std::span<const std::uint32_t> places_;
  Packing& packing_;
  std::vector<std::vector<std::uint32_t>> items_;  // by bin, by falling load
  std::vector<double> sum_;
  std::set<std::pair<double, std::uint32_t>> by_load_;
};

}  // namespace

void even_out(std::span<const double> loads, std::span<const std::uint32_t> places, double goal, Packing& packing) {
  Evening(loads, places, packing).run(goal);
}

Packing pack(std::span<const double> loads, std::span<const std::uint32_t> places, double goal) {
  const auto order = by_falling_load(loads);
  const auto packed = [&](std::vector<std::uint32_t> bin_of) {
    const double load = heaviest(loads, places.size(), bin_of);
    return Packing{std::move(bin_of), load};
  };
  if (auto fitted = first_fit(loads, order, places, goal)) return packed(*std::move(fitted));
  Packing best = packed(onto_lightest(loads, order, places));
  even_out(loads, places, goal, best);
  if (best.heaviest <= goal) return best;
  if (loads.size() <= few_items) {
    if (auto found = ExactSearch(loads, order, places, goal).run()) return packed(*std::move(found));
  }
  double low = goal, high = best.heaviest;
  for (int round = 0; round < multifit_rounds && best.heaviest > goal; ++round) {
    const double limit = (low + high) / 2;
    auto fitted = first_fit(loads, order, places, limit);
    (fitted ? high : low) = limit;
    if (!fitted) continue;
    Packing other = packed(*std::move(fitted));
    even_out(loads, places, goal, other);
    if (other.heaviest < best.heaviest) best = std::move(other);
  }
  return best;
}

}  // namespace rankloom
