// SPDX-License-Identifier: Apache-2.0
// map/peers: partitioners count in whole numbers; this turns bytes, loads and costs into them.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace rankloom {

/// Whole numbers in the proportions of the values, none negative, with a sum of at most `max_sum`, which should be
/// well above twice their count. Values that are whole and add up to no more stay as they are; others are scaled to
/// use the range, so proportions are kept to 1 % wherever a value is at least 100 / max_sum of the sum. What is
/// positive stays positive.
template <class Whole, class Values = std::span<const double>>
std::vector<Whole> integer_weights(const Values& values, double max_sum) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, value);
  if (largest == 0) return std::vector<Whole>(values.size(), Whole{0});
  double sum = 0;  // relative to the largest, so that it cannot overflow
  bool whole = true;
  for (const double value : values) {
    sum += value / largest;
    whole &= value == std::floor(value);
  }
  std::vector<Whole> numbers;
  numbers.reserve(values.size());
  if (whole && largest <= max_sum / sum) {
    for (const double value : values) numbers.push_back(static_cast<Whole>(value));
    return numbers;
  }
  const double scale = std::max(0.0, max_sum - static_cast<double>(values.size())) / sum;
  for (const double value : values) {
    const auto number = static_cast<Whole>(value / largest * scale);
    numbers.push_back(value > 0 ? std::max(number, Whole{1}) : Whole{0});
  }
  return numbers;
}

}  // namespace rankloom
