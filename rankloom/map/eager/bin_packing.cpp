// SPDX-License-Identifier: Apache-2.0
// map/eager: bin packing of the loads.
#include "rankloom/map/eager/bin_packing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "rankloom/core/max_segment_tree.hpp"

namespace rankloom {
namespace {

constexpr std::uint64_t max_exact_search_steps = 200'000;
constexpr std::size_t max_exact_search_items = 256;
constexpr int multifit_rounds = 12;
constexpr std::size_t max_partners = 64;
constexpr double rounding = 1e-12;

using Order = std::span<const std::uint32_t>;

std::vector<std::uint32_t> by_decreasing_load(std::span<const double> loads) {
  std::vector<std::uint32_t> order(loads.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return loads[a] > loads[b]; });
  return order;
}

double max_bin_load(std::span<const double> loads, std::size_t bins, std::span<const std::uint32_t> bin_of) {
  std::vector<double> sum(bins, 0.0);
  for (std::size_t item = 0; item < loads.size(); ++item) sum[bin_of[item]] += loads[item];
  return sum.empty() ? 0 : *std::max_element(sum.begin(), sum.end());
}

/// First fit: each item goes into the first bin that can take it. Empty when an item fits into no bin.
std::optional<std::vector<std::uint32_t>> first_fit(std::span<const double> loads, Order order,
                                                    std::span<const std::uint32_t> max_items, double limit) {
  using ResidualLoads = MaxSegmentTree<double>;
  ResidualLoads residual(max_items.size());
  std::vector<std::uint32_t> free_items(max_items.begin(), max_items.end()), bin_of(loads.size());
  for (std::uint32_t bin = 0; bin < max_items.size(); ++bin) {
    residual.set(bin, free_items[bin] > 0 ? limit : ResidualLoads::none);
  }
  for (const std::uint32_t item : order) {
    const auto bin = max_items.empty() ? std::nullopt : residual.first_at_or_after(0, loads[item]);
    if (!bin) return std::nullopt;
    bin_of[item] = *bin;
    residual.set(*bin, --free_items[*bin] > 0 ? residual[*bin] - loads[item] : ResidualLoads::none);
  }
  return bin_of;
}

/// LPT: each item goes into the bin with the smallest load that can take another item.
std::vector<std::uint32_t> longest_processing_time_first(std::span<const double> loads, Order order,
                                                         std::span<const std::uint32_t> max_items) {
  using Bin = std::pair<double, std::uint32_t>;
  std::priority_queue<Bin, std::vector<Bin>, std::greater<>> lightest;
  std::vector<std::uint32_t> free_items(max_items.begin(), max_items.end()), bin_of(loads.size());
  for (std::uint32_t bin = 0; bin < max_items.size(); ++bin) {
    if (free_items[bin] > 0) lightest.emplace(0.0, bin);
  }
  for (const std::uint32_t item : order) {
    const auto [load, bin] = lightest.top();
    lightest.pop();
    bin_of[item] = bin;
    if (--free_items[bin] > 0) lightest.emplace(load + loads[item], bin);
  }
  return bin_of;
}

/// Depth-first search: the items by decreasing load, each into every bin that differs from the bins tried before.
class ExactSearch {
 public:
  ExactSearch(std::span<const double> loads, Order order, std::span<const std::uint32_t> max_items, double limit)
      : loads_(loads),
        order_(order),
        free_items_(max_items.begin(), max_items.end()),
        residual_(max_items.size(), limit) {
    double total = 0, usable_bins = 0;
    for (const double load : loads) total += load;
    for (const std::uint32_t count : max_items) usable_bins += count > 0 ? 1 : 0;
    spare_ = limit * usable_bins - total;
    bin_of_.resize(loads.size());
    min_load_ = loads.empty() ? 0 : loads[order.back()];
  }

  std::optional<std::vector<std::uint32_t>> run() {
    if (spare_ < 0 || !place(0)) return std::nullopt;
    return bin_of_;
  }

 private:
  bool place(std::size_t depth) {
    if (depth == order_.size()) return true;
    if (++steps_ > max_exact_search_steps) return false;
    const std::uint32_t item = order_[depth];
    std::vector<std::pair<double, std::uint32_t>> tried;  // residual load and free items of the bins tried
    for (std::uint32_t bin = 0; bin < free_items_.size(); ++bin) {
      if (free_items_[bin] == 0 || residual_[bin] < loads_[item]) continue;
      const std::pair state{residual_[bin], free_items_[bin]};
      if (std::find(tried.begin(), tried.end(), state) != tried.end()) continue;
      tried.push_back(state);
      // A residual load that no item fits into is wasted. The search backtracks when more is wasted than is spare.
      residual_[bin] -= loads_[item];
      --free_items_[bin];
      const double wasted = residual_[bin] < min_load_ || free_items_[bin] == 0 ? residual_[bin] : 0;
      spare_ -= wasted;
      bin_of_[item] = bin;
      if (spare_ >= 0 && place(depth + 1)) return true;
      spare_ += wasted;
      residual_[bin] = state.first;
      ++free_items_[bin];
      if (steps_ > max_exact_search_steps) return false;
    }
    return false;
  }

  std::span<const double> loads_;
  Order order_;
  std::vector<std::uint32_t> free_items_;  // by bin
  std::vector<double> residual_;           // by bin
  std::vector<std::uint32_t> bin_of_;
  double spare_ = 0, min_load_ = 0;
  std::uint64_t steps_ = 0;
};

class BinBalancing {
 public:
  BinBalancing(std::span<const double> loads, std::span<const std::uint32_t> max_items, Packing& packing)
      : loads_(loads), max_items_(max_items), packing_(packing), items_(max_items.size()), sum_(max_items.size(), 0.0) {
    for (const std::uint32_t item : by_decreasing_load(loads)) {
      items_[packing.bin_of[item]].push_back(item);
      sum_[packing.bin_of[item]] += loads[item];
    }
    for (std::uint32_t bin = 0; bin < max_items.size(); ++bin) {
      if (max_items[bin] > 0) by_load_.emplace(sum_[bin], bin);
    }
  }

  void run(double goal) {
    if (by_load_.empty()) return;
    const std::size_t max_steps = 20 * by_load_.size() + 1000;
    for (std::size_t step = 0; step < max_steps; ++step) {
      const auto [load, heavy] = *by_load_.rbegin();
      if (load <= goal) break;
      Exchange best;
      best.max_load = load * (1 - rounding);
      std::size_t partners = 0;
      for (const auto& [light_load, light] : by_load_) {
        if (light == heavy || ++partners > max_partners || best.max_load <= goal) break;
        find_exchange(heavy, light, best);
      }
      if (!best.valid) break;
      apply(heavy, best);
    }
    packing_.max_load = by_load_.rbegin()->first;
  }

 private:
  static constexpr std::uint32_t nothing = 0xffffffff;
  struct Exchange {
    bool valid = false;
    double max_load = 0;  // the larger load of the two bins afterwards
    std::uint32_t bin = 0, give = nothing, get = nothing;
  };

  /// For each item of the heavy bin, considers its move and its exchange with the two items of the light bin whose
  /// loads come closest to equal loads of the bins.
  void find_exchange(std::uint32_t heavy, std::uint32_t light, Exchange& best) {
    const double wanted_shift = (sum_[heavy] - sum_[light]) / 2;
    const auto offer = [&](std::uint32_t give, std::uint32_t get) {
      const double shift = loads_[give] - (get == nothing ? 0 : loads_[get]);
      const double max_load = std::max(sum_[heavy] - shift, sum_[light] + shift);
      if (max_load < best.max_load) best = {true, max_load, light, give, get};
    };
    const auto& others = items_[light];
    for (const std::uint32_t give : items_[heavy]) {
      if (loads_[give] <= 0) break;
      if (others.size() < max_items_[light]) offer(give, nothing);
      const auto at = std::partition_point(
          others.begin(), others.end(), [&](std::uint32_t get) { return loads_[get] > loads_[give] - wanted_shift; });
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
  std::span<const std::uint32_t> max_items_;
  Packing& packing_;
  std::vector<std::vector<std::uint32_t>> items_;  // by bin, by decreasing load
  std::vector<double> sum_;
  std::set<std::pair<double, std::uint32_t>> by_load_;
};

}  // namespace

void balance_bins(std::span<const double> loads, std::span<const std::uint32_t> max_items, double goal,
                  Packing& packing) {
  BinBalancing(loads, max_items, packing).run(goal);
}

Packing pack_bins(std::span<const double> loads, std::span<const std::uint32_t> max_items, double goal) {
  const auto order = by_decreasing_load(loads);
  const auto make_packing = [&](std::vector<std::uint32_t> bin_of) {
    const double load = max_bin_load(loads, max_items.size(), bin_of);
    return Packing{std::move(bin_of), load};
  };
  if (auto bin_of = first_fit(loads, order, max_items, goal)) return make_packing(*std::move(bin_of));
  Packing best = make_packing(longest_processing_time_first(loads, order, max_items));
  balance_bins(loads, max_items, goal, best);
  if (best.max_load <= goal) return best;
  if (loads.size() <= max_exact_search_items) {
    if (auto bin_of = ExactSearch(loads, order, max_items, goal).run()) return make_packing(*std::move(bin_of));
  }
  // MULTIFIT: a binary search for the smallest limit with which first fit succeeds.
  double low = goal, high = best.max_load;
  for (int round = 0; round < multifit_rounds && best.max_load > goal; ++round) {
    const double limit = (low + high) / 2;
    auto bin_of = first_fit(loads, order, max_items, limit);
    (bin_of ? high : low) = limit;
    if (!bin_of) continue;
    Packing other = make_packing(*std::move(bin_of));
    balance_bins(loads, max_items, goal, other);
    if (other.max_load < best.max_load) best = std::move(other);
  }
  return best;
}

}  // namespace rankloom
