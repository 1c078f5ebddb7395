// SPDX-License-Identifier: Apache-2.0
// evaluate: repeated runs in a few numbers.
#pragma once

#include <span>

namespace rankloom {

struct Sample {
  double mean = 0;
  double spread = 0;  ///< Standard deviation with n-1 in the denominator; 0 for a single value.
  double least = 0;
  double most = 0;
};

/// Of at least one value.
Sample summarise(std::span<const double> values);

/// Do two lists put the same things into the same order? 1: the same, -1: the opposite, 0 when one of them is all
/// equal. Spearman's rho: correlation of the ranks, ties sharing theirs. O(n log n).
double spearman_correlation(std::span<const double> a, std::span<const double> b);
/// Kendall's tau-b: of the pairs that neither list ties, those in the same order less those in the other. O(n²).
double kendall_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace rankloom
