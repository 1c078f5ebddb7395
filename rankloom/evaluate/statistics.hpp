// SPDX-License-Identifier: Apache-2.0
// evaluate: statistics of repeated runs, the sequential comparison of two variants of a program, and rank correlations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace rankloom {

struct Sample {
  double mean = 0;
  double spread = 0;  ///< Standard deviation with n-1 in the denominator; 0 for a single value.
  double min = 0;
  double max = 0;
};

/// Precondition: at least one value.
Sample summarise(std::span<const double> values);

/// The mean of the two middle values if their number is even. Precondition: at least one value.
double median(std::span<const double> values);

/// The indices of values that differ from the median by more than 3.5 standard deviations, estimated from the median
/// absolute deviation (Iglewicz and Hoaglin 1993), and by more than 5 %.
std::vector<std::size_t> find_outliers(std::span<const double> values);

/// The value that a Student variable with these degrees of freedom exceeds with probability `upper_tail`. 0 <
/// upper_tail < 0.5, degrees > 0.
double student_quantile(double upper_tail, std::size_t degrees);

/// How two variants of a program, "before" and "after", are compared by pairs of runs, one of each variant.
struct ComparisonOptions {
  std::size_t min_pairs = 5;  ///< Pairs before the first look at the times; at least `required_pairs` of them.
  std::size_t max_pairs = 20;
  /// The probability of the outcome "faster" if there is no difference, over all looks, and that of "slower".
  double error = 0.01;
  double min_difference = 0.01;  ///< A smaller relative difference is called none.
  double precision = 0.02;  ///< No pairs are added if the interval is narrower than this on each side of the ratio.

  std::size_t required_pairs = 3;  ///< Fewer give no verdict.

  /// For each of several comparisons with the same variant "before", so that the error probability holds for all of
  /// them together (Bonferroni). On a machine with a slow and a fast state, three pairs are alike by chance too often.
  ComparisonOptions for_one_of(std::size_t comparisons) const {
    ComparisonOptions options = *this;
    options.error /= static_cast<double>(comparisons);
    if (comparisons > 1) options.required_pairs = 4;
    return options;
  }
};

/// A look at the times: a test after this number of pairs.
struct Look {
  std::size_t pairs = 0;
  double level = 0;  ///< The one-sided error probability that this look may spend.
};

/// The looks at the times, by pairs in ascending order: min_pairs, then half as many more each time, until max_pairs.
/// The first look spends half of the error probability, the others share the other half. The levels of all looks add up
/// to the error probability, so that it holds for any rule of stopping between looks (Bonferroni). Empty: max_pairs is
/// less than required_pairs.
std::vector<Look> planned_looks(const ComparisonOptions& options);

/// The order in which the variants of a program run in a round, one run of each; 0 is "before". Two consecutive rounds
/// have opposite orders, so that a linear drift cancels out; which of the two comes first (ABBA or BAAB) has no period,
/// so that periodic disturbances do not meet one variant.
std::vector<std::size_t> run_order(std::size_t round, std::size_t variants);

/// The comparison after the last look that the pairs reach.
struct PairedComparison {
  enum class Outcome : std::uint8_t { too_few_pairs, same, faster, slower };
  Outcome outcome = Outcome::too_few_pairs;
  std::size_t pairs = 0;  ///< The pairs of this look; later pairs are not used.
  /// The time before divided by the time after: exp of the mean of the logarithms, and its confidence interval. With 10
  /// pairs or more, the mean is trimmed: the largest and the smallest tenth of the logarithms is left out.
  double ratio = 1;
  double low = 0, high = std::numeric_limits<double>::infinity();
  /// The probability that the interval contains the ratio, over all looks.
  double confidence = 0;
  /// The number of pairs at the next look; 0: the comparison is over, because a difference was found, the interval is
  /// narrow enough, or there are max_pairs pairs.
  std::size_t next_pairs = 0;
};

/// Compares by Student's test of the logarithms of the ratios of all pairs, with Yuen's standard error for trimmed
/// means (Yuen 1974). Precondition: as many times before as after, all positive.
PairedComparison compare_pairs(std::span<const double> before, std::span<const double> after,
                               const ComparisonOptions& options);

/// Spearman's rho: the correlation of the ranks of two lists; ties share their mean rank. 1: same order, -1: opposite
/// order, 0 if all values of one list are equal. O(n log n).
double spearman_correlation(std::span<const double> a, std::span<const double> b);
/// Kendall's tau-b: concordant minus discordant pairs, normalised by the pairs without ties. O(n²).
double kendall_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace rankloom
