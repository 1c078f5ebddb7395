// SPDX-License-Identifier: Apache-2.0
// discover: structure out of distances: which ranks are so near each other that they must share something.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace rankloom {

/// One distance between two of n things.
struct PairDistance {
  std::uint32_t a = 0, b = 0;
  double value = 0;  ///< Above 0.
};

/// A division of the things into groups: group[thing], numbered by their first members.
using Grouping = std::vector<std::uint32_t>;

/// Levels of groups, the finest first, each made of whole groups of the one before; none when all distances are alike.
/// Average linkage on the logarithms, so that a level is a ratio; cut where the distances below and above differ by
/// more than their spread. `known` (may be empty) is a division that holds in any case, such as hosts: it is one of the
/// levels, and no other contradicts it. Pairs that were not measured count as the median of their kind. O(n^2) time and
/// memory.
std::vector<Grouping> find_groupings(std::uint32_t n, std::span<const PairDistance> distances, const Grouping& known);

/// Whether two sets of values differ by more than 5 % and by more than their spread.
bool differ_measurably(std::span<const double> near, std::span<const double> far);

}  // namespace rankloom
