// SPDX-License-Identifier: Apache-2.0
// evaluate: statistics of repeated runs, and rank correlations.
#include "rankloom/evaluate/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <vector>

namespace rankloom {

namespace {

/// The rank of each value in sorted order; equal values share their mean rank.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return values[x] < values[y]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double mean_rank = static_cast<double>(begin + end - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = mean_rank;
  }
  return ranks;
}

}  // namespace

Sample summarise(std::span<const double> values) {
  assert(!values.empty());
  const auto count = static_cast<double>(values.size());
  Sample sample{.mean = 0, .spread = 0, .min = values[0], .max = values[0]};
  for (const double value : values) {
    sample.mean += value / count;
    sample.min = std::min(sample.min, value);
    sample.max = std::max(sample.max, value);
  }
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  if (values.size() > 1) sample.spread = std::sqrt(squares / (count - 1));
  return sample;
}

double spearman_correlation(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  const auto x = ranks_of(a), y = ranks_of(b);
  const double mean = static_cast<double>(a.size() - 1) / 2;
  double covariance = 0, variance_x = 0, variance_y = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    covariance += (x[i] - mean) * (y[i] - mean);
    variance_x += (x[i] - mean) * (x[i] - mean);
    variance_y += (y[i] - mean) * (y[i] - mean);
  }
  return variance_x > 0 && variance_y > 0 ? covariance / std::sqrt(variance_x * variance_y) : 0;
}

double kendall_correlation(std::span<const double> a, std::span<const double> b) {
  assert(a.size() == b.size() && !a.empty());
  const auto sign = [](double value) { return (value > 0) - (value < 0); };
  double concordance = 0, untied_a = 0, untied_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const int x = sign(a[i] - a[j]), y = sign(b[i] - b[j]);
      concordance += x * y;
      untied_a += x * x;
      untied_b += y * y;
    }
  }
  return untied_a > 0 && untied_b > 0 ? concordance / std::sqrt(untied_a * untied_b) : 0;
}

}  // namespace rankloom
