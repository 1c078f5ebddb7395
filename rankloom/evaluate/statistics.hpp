// SPDX-License-Identifier: Apache-2.0
// evaluate: statistics of repeated runs, and rank correlations.
#pragma once

#include <span>

namespace rankloom {

struct Sample {
  double mean = 0;
  double spread = 0;  ///< Standard deviation with n-1 in the denominator; 0 for a single value.
  double min = 0;
  double max = 0;
};

/// Precondition: at least one value.
Sample summarise(std::span<const double> values);

/// Spearman's rho: the correlation of the ranks of two lists; ties share their mean rank. 1: same order, -1: opposite
/// order, 0 if all values of one list are equal. O(n log n).
double spearman_correlation(std::span<const double> a, std::span<const double> b);
/// Kendall's tau-b: concordant minus discordant pairs, normalised by the pairs without ties. O(n²).
double kendall_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace rankloom
