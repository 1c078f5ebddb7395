// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: Wilcoxon's signed-rank test.
#include "rankloom/evaluate/experiment/signed_rank_test.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace rankloom {

namespace {

constexpr std::size_t max_exact_pairs = 25;

/// The probability that the ranks 1 to `pairs`, each with probability 1/2, have a sum of at most `limit`.
double lower_tail(std::size_t pairs, std::size_t limit) {
  std::vector<double> ways(limit + 1, 0);  // by sum, relative to 2^pairs
  ways[0] = 1;
  for (std::size_t rank = 1; rank <= pairs; ++rank) {
    for (std::size_t sum = limit + 1; sum-- > 0;) ways[sum] = (ways[sum] + (sum >= rank ? ways[sum - rank] : 0)) / 2;
  }
  double tail = 0;
  for (const double part : ways) tail += part;
  return tail;
}

/// `tie_term`: the sum of t³ - t over all groups of t equal values.
double normal_p_value(double pairs, double smaller_sum, double tie_term) {
  const double mean = pairs * (pairs + 1) / 4;
  const double variance = pairs * (pairs + 1) * (2 * pairs + 1) / 24 - tie_term / 48;
  const double distance = std::max(0.0, mean - smaller_sum - 0.5);  // continuity
  return variance > 0 ? std::erfc(distance / std::sqrt(variance) / std::numbers::sqrt2) : 1;
}

}  // namespace

SignedRankTest signed_rank_test(std::span<const double> differences) {
  std::vector<double> values;
  std::copy_if(differences.begin(), differences.end(), std::back_inserter(values), [](double d) { return d != 0; });
  std::sort(values.begin(), values.end(), [](double a, double b) { return std::abs(a) < std::abs(b); });
  SignedRankTest test{.pairs = values.size()};
  double tie_term = 0;
  for (std::size_t begin = 0, end = 0; begin < values.size(); begin = end) {
    while (end < values.size() && std::abs(values[end]) == std::abs(values[begin])) ++end;
    const double rank = static_cast<double>(begin + end + 1) / 2, ties = static_cast<double>(end - begin);
    for (std::size_t i = begin; i < end; ++i) (values[i] > 0 ? test.positive_ranks : test.negative_ranks) += rank;
    tie_term += ties * ties * ties - ties;
  }
  if (values.empty()) return test;
  const double smaller = std::min(test.positive_ranks, test.negative_ranks);
  test.exact = tie_term == 0 && values.size() <= max_exact_pairs;
  test.p_value = test.exact ? std::min(1.0, 2 * lower_tail(values.size(), static_cast<std::size_t>(smaller)))
                            : normal_p_value(static_cast<double>(values.size()), smaller, tie_term);
  test.effect = (test.positive_ranks - test.negative_ranks) / (test.positive_ranks + test.negative_ranks);
  return test;
}

std::size_t min_pairs_for(double level) {
  std::size_t pairs = 1;
  while (std::ldexp(2.0, -static_cast<int>(pairs)) > level) ++pairs;
  return pairs;
}

}  // namespace rankloom
