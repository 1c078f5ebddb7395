// SPDX-License-Identifier: Apache-2.0
// map/clustering: the last step of CP-NSC: points to clusters.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/core/random.hpp"

namespace rankloom {

struct KMeansOptions {
  std::uint64_t restarts = 1;      ///< The best of so many starts is kept, the first on ties. At least 1.
  std::uint64_t most_rounds = 32;  ///< Of one start; it ends before when no point changes its cluster.
  Deadline deadline{};             ///< When it passes, the best so far is returned: at least one round of one start.
};

/// The cluster of each point, 0..k-1, none of them empty. Lloyd's rounds from k-means++ starts (Arthur, Vassilvitskii
/// 2007); ties go to the lower number, an empty cluster takes the point that is farthest from its own centre. The
/// points are rows of `dimensions` finite numbers. 1 <= k <= points. O(points x k x dimensions) for each start and
/// round; parallel, the same for any number of threads.
std::vector<std::uint32_t> k_means(std::span<const double> rows, std::uint32_t dimensions, std::uint32_t k,
                                   const KMeansOptions& options, Random& random);

}  // namespace rankloom
