// SPDX-License-Identifier: Apache-2.0
// map/structure/embedding: iterated local search over digit layouts.
#include "rankloom/map/structure/embedding/digit_layout.hpp"

#include <utility>

#include "rankloom/core/random.hpp"

namespace rankloom {
namespace {

/// Random changes in a row without a gain, after which the search ends.
constexpr std::uint32_t max_idle_rounds = 24;
constexpr double min_relative_gain = 1e-9;

class LayoutSearch {
 public:
  LayoutSearch(DigitLayout start, std::span<const MachineLevel> levels,
               const std::function<double(const DigitLayout&)>& cost, const std::function<bool()>& is_exhausted)
      : levels_(levels), cost_of_(cost), is_exhausted_(is_exhausted), layout_(std::move(start)) {
    find_digits();
    cost_ = cost_of_(layout_);
  }

  DigitLayout run() {
    if (digits_.size() < 2) return layout_;
    descend();
    DigitLayout best = layout_;
    double best_cost = cost_;
    for (std::uint32_t idle = 0; idle < max_idle_rounds && !is_exhausted_(); ++idle) {
      change_at_random();
      descend();
      if (is_gain(cost_, best_cost)) {
        best = layout_;
        best_cost = cost_;
        idle = 0;
      } else {
        layout_ = best;
        cost_ = best_cost;
        find_digits();
      }
    }
    return best;
  }

 private:
  /// Where a digit is.
  struct Place {
    std::size_t level, at;
  };

  static bool is_gain(double cost, double before) { return cost < before - min_relative_gain * before; }
  LayoutDigit& digit(const Place& place) { return layout_.levels[place.level][place.at]; }

  void find_digits() {
    digits_.clear();
    for (std::size_t level = 0; level < layout_.levels.size(); ++level) {
      for (std::size_t at = 0; at < layout_.levels[level].size(); ++at) digits_.push_back({level, at});
    }
  }

  std::uint64_t size_of(std::size_t level) const {
    std::uint64_t size = 1;
    for (const LayoutDigit& each : layout_.levels[level]) size *= each.radix;
    return size;
  }
  bool fits() const {
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      if (size_of(level) > levels_[level].size) return false;
    }
    return true;
  }

  /// Keeps the change if it gains.
  template <class Change>
  bool try_change(const Change& change) {
    DigitLayout before = layout_;
    change();
    if (fits()) {
      if (const double cost = cost_of_(layout_); is_gain(cost, cost_)) {
        cost_ = cost;
        return true;
      }
    }
    layout_ = std::move(before);
    return false;
  }

  void descend() {
    for (bool gained = true; gained && !is_exhausted_();) {
      gained = try_exchanges();
      gained = try_single_digits() || gained;
      gained = try_significance() || gained;
      for (std::size_t axis = 0; axis < layout_.gray.size(); ++axis)
        gained = try_change([&] { layout_.gray[axis] = !layout_.gray[axis]; }) || gained;
    }
  }

  void exchange(const Place& a, const Place& b, bool strips_stay) {
    std::swap(digit(a), digit(b));
    if (strips_stay) std::swap(digit(a).reflects, digit(b).reflects);
  }

  bool try_exchanges() {
    bool gained = false;
    for (std::size_t first = 0; first < digits_.size(); ++first) {
      for (std::size_t second = first + 1; second < digits_.size() && !is_exhausted_(); ++second) {
        const Place a = digits_[first], b = digits_[second];
        for (const bool strips_stay : {false, true}) {
          if (strips_stay && digit(a).reflects == digit(b).reflects) continue;
          gained = try_change([&] { exchange(a, b, strips_stay); }) || gained;
        }
      }
    }
    return gained;
  }

  bool try_single_digits() {
    bool gained = false;
    for (std::size_t number = 0; number < digits_.size() && !is_exhausted_(); ++number) {
      if (digits_[number].at > 0) {
        const Place place = digits_[number];
        gained = try_change([&] { digit(place).reflects = !digit(place).reflects; }) || gained;
      }
      for (std::size_t level = 0; level < levels_.size(); ++level) {
        const Place place = digits_[number];
        if (level == place.level || size_of(level) * digit(place).radix > levels_[level].size) continue;
        const bool moved = try_change([&] {
          layout_.levels[level].push_back(digit(place));
          auto& from = layout_.levels[place.level];
          from.erase(from.begin() + static_cast<std::ptrdiff_t>(place.at));
        });
        if (moved) find_digits();
        gained = moved || gained;
      }
    }
    return gained;
  }

  /// Two successive digits of an axis with different radices exchange their significance.
  bool try_significance() {
    bool gained = false;
    for (const Place& low : digits_) {
      for (const Place& high : digits_) {
        if (digit(low).axis != digit(high).axis || digit(low).radix == digit(high).radix ||
            digit(high).before != digit(low).before * digit(low).radix) {
          continue;
        }
        gained = try_change([&] {
                   digit(high).before = digit(low).before;
                   digit(low).before *= digit(high).radix;
                 }) ||
                 gained;
      }
    }
    return gained;
  }

  void change_at_random() {
    const auto draw = [&] { return digits_[random_.below(digits_.size())]; };
    for (std::uint32_t change = 0; change < 3; ++change) {
      const Place a = draw(), b = draw();
      DigitLayout before = layout_;
      exchange(a, b, random_.below(2) == 0);
      if (!fits()) layout_ = std::move(before);
      const Place c = draw();
      if (random_.below(2) == 0) digit(c).reflects = !digit(c).reflects;
    }
    cost_ = cost_of_(layout_);
  }

  std::span<const MachineLevel> levels_;
  const std::function<double(const DigitLayout&)>& cost_of_;
  const std::function<bool()>& is_exhausted_;
  DigitLayout layout_;
  double cost_ = 0;
  std::vector<Place> digits_;
  Random random_{0};
};

}  // namespace

std::vector<std::uint32_t> prime_radices(std::uint32_t number) {
  std::vector<std::uint32_t> factors;
  for (std::uint32_t factor = 2; number > 1; ++factor) {
    if (std::uint64_t{factor} * factor > number) factor = number;
    for (; number % factor == 0; number /= factor) factors.push_back(factor);
  }
  return factors;
}

DigitLayout improve_layout(DigitLayout start, std::span<const MachineLevel> levels,
                           const std::function<double(const DigitLayout&)>& cost,
                           const std::function<bool()>& is_exhausted) {
  return LayoutSearch(std::move(start), levels, cost, is_exhausted).run();
}

}  // namespace rankloom
