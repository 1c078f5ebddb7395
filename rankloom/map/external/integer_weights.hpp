// SPDX-License-Identifier: Apache-2.0
// map/external: integer weights for partitioners, from bytes, loads and costs.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace rankloom {

/// Non-negative integers in proportion to the values, with a sum of at most `max_sum`, which should be far above twice
/// their count. Integer values with a small enough sum are returned unchanged. Others are scaled to use the range;
/// proportions are accurate to 1 % for values of at least 100 / max_sum of the sum. A positive value stays positive.
template <class Integer, class Values = std::span<const double>>
std::vector<Integer> integer_weights(const Values& values, double max_sum) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, value);
  if (largest == 0) return std::vector<Integer>(values.size(), Integer{0});
  double sum = 0;  // relative to the largest, so that it cannot overflow
  bool whole = true;
  for (const double value : values) {
    sum += value / largest;
    whole &= value == std::floor(value);
  }
  std::vector<Integer> numbers;
  numbers.reserve(values.size());
  if (whole && largest <= max_sum / sum) {
    for (const double value : values) numbers.push_back(static_cast<Integer>(value));
    return numbers;
  }
  const double scale = std::max(0.0, max_sum - static_cast<double>(values.size())) / sum;
  for (const double value : values) {
    const auto number = static_cast<Integer>(value / largest * scale);
    numbers.push_back(value > 0 ? std::max(number, Integer{1}) : Integer{0});
  }
  return numbers;
}

}  // namespace rankloom
