// SPDX-License-Identifier: Apache-2.0
// evaluate/experiment: Wilcoxon's signed-rank test for paired results.
#pragma once

#include <cstddef>
#include <span>

namespace rankloom {

struct SignedRankTest {
  std::size_t pairs = 0;  ///< Differences that are not 0; the others do not count.
  double positive_ranks = 0,
         negative_ranks = 0;  ///< Sums of the ranks of the positive and of the negative differences.
  double p_value = 1;         ///< Two-sided.
  /// Matched-pairs rank-biserial correlation (Kerby 2014): -1: all differences are negative, 1: all are positive.
  double effect = 0;
  bool exact = true;  ///< By counting all signs; else by the normal approximation.
};

/// Wilcoxon 1945. Exact for at most 25 differences without ties; otherwise the normal approximation with corrections
/// for ties and continuity (Hollander and Wolfe 1973). Differences may be infinite, but not NaN.
SignedRankTest signed_rank_test(std::span<const double> differences);

/// The fewest differences with which the test can reach a two-sided p-value of at most `level`: 6 for 5 %.
std::size_t min_pairs_for(double level);

}  // namespace rankloom
