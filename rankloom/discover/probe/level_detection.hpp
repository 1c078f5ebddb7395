// SPDX-License-Identifier: Apache-2.0
// discover/probe: detects the levels of a machine from measured times: hierarchical clustering of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rankloom {

/// The distance between two of n items.
struct PairDistance {
  std::uint32_t a = 0, b = 0;
  double value = 0;  ///< Above 0.
};

/// The group of each item; groups are numbered in order of their first members.
using Grouping = std::vector<std::uint32_t>;

/// Nested groupings, the finest first; none if all distances are similar. Average-linkage clustering. The
/// logarithms are clustered, so levels differ by ratios. The dendrogram is cut where the distances below and above
/// differ by more than their spread. `known` (may be empty) is a grouping that must be one of the levels, such as the
/// hosts; no other level contradicts it. Pairs without a distance count with the median of the pairs of their kind.
/// O(n^2) time and memory.
std::vector<Grouping> detect_levels(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known);

/// Whether two sets of values differ by more than 5 % and by more than their spread.
bool differ_measurably(std::span<const double> inner, std::span<const double> outer);

}  // namespace rankloom
