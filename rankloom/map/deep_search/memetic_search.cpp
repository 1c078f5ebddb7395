// SPDX-License-Identifier: Apache-2.0
// map/deep_search: a population of good assignments, crossed and improved by tabu search.
#include "rankloom/map/deep_search/memetic_search.hpp"

#include <algorithm>
#include <numeric>

#include "rankloom/map/deep_search/tabu_search.hpp"

namespace rankloom {
namespace {

using Assignment = std::vector<std::uint32_t>;

constexpr std::size_t population_size = 20;
/// Steps of tabu search for a child, by item. Short ones suit uneven tables (tai..b of QAPLIB); where they do not
/// suffice, each population takes longer than the one before it.
constexpr std::uint64_t first_steps = 10;
constexpr double growth = 1.5;
/// Children in a row that do not enter the population before it is given up.
constexpr std::uint64_t patience = 60;

constexpr std::uint32_t nobody = ~std::uint32_t{0};

struct Individual {
  Assignment item_on_seat;
  double cost;
};

template <class Number>
class Memetic {
 public:
  Memetic(const AssignmentTables& tables, std::uint64_t steps, Random& random, Pulse& pulse)
      : tables_(tables), tabu_(tables), steps_left_(steps), random_(random), pulse_(pulse) {}

  Assignment run(const std::vector<Assignment>& starts) {
    best_ = {starts.front(), tables_.cost(starts.front())};
    if (tables_.size() < 2) return starts.front();
    std::uint64_t steps = first_steps * tables_.size();
    for (const Assignment& start : starts) population_.push_back(improved(start, steps));
    while (!over()) {
      while (population_.size() < population_size && !over()) population_.push_back(improved(shuffled(), steps));
      evolve(steps);
      population_.clear();
      steps = static_cast<std::uint64_t>(static_cast<double>(steps) * growth);
    }
    return best_.item_on_seat;
  }

 private:
  bool over() const { return steps_left_ == 0 || pulse_.stopped(); }

  Individual improved(const Assignment& from, std::uint64_t steps) {
    tabu_.begin(from);
    steps_left_ -= tabu_.run(std::min(steps, steps_left_), steps, random_, pulse_);
    Individual child{tabu_.best(), tabu_.best_cost()};
    if (child.cost < best_.cost) best_ = child;
    return child;
  }

  Assignment shuffled() {
    Assignment item_on_seat(tables_.size());
    std::iota(item_on_seat.begin(), item_on_seat.end(), 0U);
    random_.shuffle(std::span(item_on_seat));
    return item_on_seat;
  }

  void evolve(std::uint64_t steps) {
    std::uint64_t fruitless = 0;
    while (fruitless < patience && !over()) {
      const std::size_t one = parent();
      std::size_t other = parent();
      if (other == one) other = (one + 1) % population_.size();
      const Individual child = improved(crossed(population_[one].item_on_seat, population_[other].item_on_seat), steps);
      const auto worst = std::max_element(population_.begin(), population_.end(),
                                          [](const auto& a, const auto& b) { return a.cost < b.cost; });
      const bool known = std::any_of(population_.begin(), population_.end(),
                                     [&](const Individual& individual) { return individual.cost == child.cost; });
      ++fruitless;
      if (child.cost >= worst->cost || known) continue;
      *worst = child;
      fruitless = 0;
    }
  }

  /// The better of two.
  std::size_t parent() {
    const std::size_t a = random_.below(population_.size());
    const std::size_t b = random_.below(population_.size());
    return population_[a].cost < population_[b].cost ? a : b;
  }

  Assignment crossed(const Assignment& a, const Assignment& b) {
    Assignment child(a.size(), nobody);
    std::vector<bool> placed(a.size(), false);
    const auto put = [&](std::size_t seat, std::uint32_t item) {
      child[seat] = item;
      placed[item] = true;
    };
    for (std::size_t seat = 0; seat < a.size(); ++seat) {
      if (a[seat] == b[seat]) put(seat, a[seat]);
    }
    std::vector<std::uint32_t> order(a.size());
    std::iota(order.begin(), order.end(), 0U);
    random_.shuffle(std::span(order));
    for (const std::uint32_t seat : order) {
      if (child[seat] != nobody) continue;
      const bool from_a = random_.below(2) == 0;
      const std::uint32_t first = from_a ? a[seat] : b[seat], second = from_a ? b[seat] : a[seat];
      if (!placed[first]) {
        put(seat, first);
      } else if (!placed[second]) {
        put(seat, second);
      }
    }
    std::vector<std::uint32_t> left;
    for (std::uint32_t item = 0; item < a.size(); ++item) {
      if (!placed[item]) left.push_back(item);
    }
    random_.shuffle(std::span(left));
    for (std::uint32_t& item : child) {
      if (item != nobody) continue;
      item = left.back();
      left.pop_back();
    }
    return child;
  }

  const AssignmentTables& tables_;
  TabuSearch<Number> tabu_;
  std::uint64_t steps_left_;
  Random& random_;
  Pulse& pulse_;
  std::vector<Individual> population_;
  Individual best_{};
};

}  // namespace

std::vector<std::uint32_t> memetic_search(const AssignmentTables& tables, const std::vector<Assignment>& starts,
                                          std::uint64_t steps, Random& random, Pulse& pulse) {
  const bool small_numbers = tables.whole() && tables.largest_change() < 0x1p31;
  return small_numbers ? Memetic<std::int32_t>(tables, steps, random, pulse).run(starts)
                       : Memetic<double>(tables, steps, random, pulse).run(starts);
}

}  // namespace rankloom
