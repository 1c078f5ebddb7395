// SPDX-License-Identifier: Apache-2.0
// evaluate: repeated runs in a few numbers.
#include "rankloom/evaluate/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace rankloom {

namespace {

/// The place of each value in the sorted order; equal ones share the middle of their places.
std::vector<double> places(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return values[x] < values[y]; });
  std::vector<double> place(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double middle = static_cast<double>(begin + end - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) place[order[i]] = middle;
  }
  return place;
}

}  // namespace

Sample summarise(std::span<const double> values) {
  assert(!values.empty());
  const auto count = static_cast<double>(values.size());
  Sample sample{.mean = 0, .spread = 0, .least = values[0], .most = values[0]};
  for (const double value : values) {
    sample.mean += value / count;
    sample.least = std::min(sample.least, value);
    sample.most = std::max(sample.most, value);
  }
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  if (values.size() > 1) sample.spread = std::sqrt(squares / (count - 1));
  return sample;
}

double spearman_correlation(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  const auto x = places(a), y = places(b);
  const double middle = static_cast<double>(a.size() - 1) / 2;
  double together = 0, of_x = 0, of_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    together += (x[i] - middle) * (y[i] - middle);
    of_x += (x[i] - middle) * (x[i] - middle);
    of_y += (y[i] - middle) * (y[i] - middle);
  }
  return of_x > 0 && of_y > 0 ? together / std::sqrt(of_x * of_y) : 0;
}

double kendall_correlation(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  const auto sign = [](double value) { return (value > 0) - (value < 0); };
  double agree = 0, untied_a = 0, untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int x = sign(a[i] - a[j]), y = sign(b[i] - b[j]);
      agree += x * y;
      untied_a += x * x;
      untied_b += y * y;
    }
  }
  return untied_a > 0 && untied_b > 0 ? agree / std::sqrt(untied_a * untied_b) : 0;
}

}  // namespace rankloom
