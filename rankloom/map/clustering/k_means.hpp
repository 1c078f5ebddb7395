// SPDX-License-Identifier: Apache-2.0
// map/clustering: step 6 of CP-NSC (Wang 2015, Algorithm 1): k-means on the rows of the eigenvector matrix.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

struct KMeansOptions {
  std::uint64_t restarts = 1;     ///< Number of starts, at least 1; the best result is kept, the first on ties.
  std::uint64_t max_rounds = 32;  ///< Per start; a start ends earlier when no point changes its cluster.
  Deadline deadline{};            ///< When it passes, the best result so far is returned, after at least one round.
};

/// The cluster of each point, 0..k-1; no cluster is empty. Lloyd's algorithm from k-means++ starts (Arthur,
/// Vassilvitskii 2007). Ties go to the lower number; an empty cluster takes the point farthest from its centre. The
/// points are rows of `dimensions` finite numbers. 1 <= k <= points. O(points x k x dimensions) per start and round;
/// parallel, with the same result for any number of threads.
std::vector<std::uint32_t> k_means(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k,
                                   const KMeansOptions& options, Random& random);

}  // namespace rankloom
