// SPDX-License-Identifier: Apache-2.0
// evaluate: statistics of repeated runs, the sequential comparison of two variants of a program, and rank correlations.
#include "rankloom/evaluate/statistics.hpp"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <numbers>
#include <numeric>
#include <vector>

#include "rankloom/core/random.hpp"

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

/// The probability that a Student variable exceeds t > 0 (Abramowitz and Stegun 1964, 26.7.3 and 26.7.4).
double student_upper_tail(double t, std::size_t degrees) {
  const double angle = std::atan(t / std::sqrt(static_cast<double>(degrees)));
  const double sine = std::sin(angle), cosine = std::cos(angle);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (std::size_t i = odd ? 2 : 1; i + 3 <= degrees; i += 2) {
    term *= static_cast<double>(i) / static_cast<double>(i + 1) * cosine * cosine;
    sum += term;
  }
  const double inside = odd ? 2 / std::numbers::pi * (angle + sine * sum) : sine * sum;
  return (1 - inside) / 2;
}

/// A trimmed mean and its standard error (Yuen 1974).
struct TrimmedMean {
  double mean = 0, error = 0;
  std::size_t degrees = 0;
};

TrimmedMean trimmed_mean(std::vector<double> values) {
  constexpr std::size_t trimmed_part = 10;
  std::sort(values.begin(), values.end());
  const std::size_t trimmed = values.size() / trimmed_part, kept = values.size() - 2 * trimmed;
  TrimmedMean result{.mean = 0, .error = 0, .degrees = kept - 1};
  for (std::size_t i = trimmed; i < trimmed + kept; ++i) result.mean += values[i] / static_cast<double>(kept);
  for (std::size_t i = 0; i < trimmed; ++i) {  // winsorise
    values[i] = values[trimmed];
    values[values.size() - 1 - i] = values[trimmed + kept - 1];
  }
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  result.error = std::sqrt(squares / static_cast<double>(kept * (kept - 1)));
  return result;
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

double median(std::span<const double> values) {
  assert(!values.empty());
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t middle = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

std::vector<std::size_t> find_outliers(std::span<const double> values) {
  constexpr double max_deviations = 3.5, normal_deviation = 1.4826, min_part = 0.05;
  if (values.empty()) return {};
  const double middle = median(values);
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - middle));
  const double limit = std::max(max_deviations * normal_deviation * median(distances), min_part * std::abs(middle));
  std::vector<std::size_t> outliers;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (distances[i] > limit) outliers.push_back(i);
  }
  return outliers;
}

double student_quantile(double upper_tail, std::size_t degrees) {
  assert(upper_tail > 0 && upper_tail < 0.5 && degrees > 0);
  double low = 0, high = 1;
  while (student_upper_tail(high, degrees) > upper_tail) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (student_upper_tail(middle, degrees) > upper_tail ? low : high) = middle;
  }
  return high;
}

std::vector<Look> planned_looks(const ComparisonOptions& options) {
  if (options.max_pairs < options.required_pairs) return {};
  std::vector<Look> looks;
  std::size_t pairs = std::min(std::max(options.min_pairs, options.required_pairs), options.max_pairs);
  for (; pairs < options.max_pairs; pairs += pairs / 2) looks.push_back({pairs, 0});
  looks.push_back({options.max_pairs, 0});
  for (Look& look : looks)
    look.level = options.error / 2 / static_cast<double>(std::max<std::size_t>(looks.size() - 1, 1));
  looks.front().level = looks.size() == 1 ? options.error : options.error / 2;
  return looks;
}

std::vector<std::size_t> run_order(std::size_t round, std::size_t variants) {
  // For two variants, of all orders of ten blocks, one for which the fewest disturbances with a period of 2 to 12 runs
  // look like a difference at a look.
  static constexpr std::array<bool, 10> first_blocks{false, false, true, false, true, true, true, false, true, false};
  constexpr std::uint64_t seed = 1;
  const std::size_t block = round / 2;
  std::vector<std::size_t> order(variants);
  std::iota(order.begin(), order.end(), 0);
  if (variants > 2) {
    constexpr std::uint64_t seed_of_several = 60;  // of 60 seeds, that with the fewest such disturbances
    Random(seed_of_several, block).shuffle(std::span(order));
  } else if (block < first_blocks.size() ? first_blocks[block] : Random(seed, block).next() >> 63 != 0) {
    std::reverse(order.begin(), order.end());
  }
  if (round % 2 == 1) std::reverse(order.begin(), order.end());
  return order;
}

PairedComparison compare_pairs(std::span<const double> before, std::span<const double> after,
                               const ComparisonOptions& options) {
  assert(before.size() == after.size());
  using Outcome = PairedComparison::Outcome;
  const std::vector<Look> looks = planned_looks(options);
  PairedComparison result;
  result.next_pairs = looks.empty() ? (before.size() < options.max_pairs ? options.max_pairs : 0) : looks[0].pairs;
  std::vector<double> logs;
  for (std::size_t i = 0; i < looks.size() && looks[i].pairs <= before.size(); ++i) {
    while (logs.size() < looks[i].pairs) logs.push_back(std::log(before[logs.size()] / after[logs.size()]));
    const TrimmedMean mean = trimmed_mean(logs);
    const double half_width = student_quantile(looks[i].level, mean.degrees) * mean.error;
    result.pairs = looks[i].pairs;
    result.ratio = std::exp(mean.mean);
    result.low = std::exp(mean.mean - half_width);
    result.high = std::exp(mean.mean + half_width);
    result.confidence = 1 - 2 * options.error;
    result.outcome = result.low > 1 + options.min_difference          ? Outcome::faster
                     : result.high < 1 / (1 + options.min_difference) ? Outcome::slower
                                                                      : Outcome::same;
    const bool over = result.outcome != Outcome::same || std::expm1(half_width) <= options.precision;
    result.next_pairs = over || i + 1 == looks.size() ? 0 : looks[i + 1].pairs;
    if (over) break;
  }
  return result;
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
