// SPDX-License-Identifier: Apache-2.0
// map/clustering: CP-NSC, the normalised spectral clustering of processes by what they say to each other (Wang 2015,
// Algorithm 1).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/map/clustering/eigenvectors.hpp"
#include "rankloom/map/clustering/k_means.hpp"

namespace rankloom {

struct SpectralOptions {
  Similarity similarity{};
  std::uint64_t restarts = 8;  ///< Of k-means.
  std::uint64_t at_once = 64;  ///< More clusters than these are made by dividing first.
};

/// Clusters of the elements of one affinity, for several numbers of clusters: what they share is computed once.
///
/// Where it departs from the paper:
/// - Parts that do not talk to each other are clustered apart. Algorithm 1 would find them by the eigenvalue 1, which
///   is then there as often as there are parts. Each part has a cluster at least and the rest in proportion to its
///   size; when there are more parts than clusters, the small ones are put together.
/// - More than `at_once` clusters are made in steps, the paper's own idea for large machines (4.5) applied to the
///   clusters: all elements are divided into some dozens of parts first, each of them again, until a part is small; the
///   number of clusters is shared out in proportion to size. Thousands of eigenvectors at once would cost O(n k²).
class SpectralClustering {
 public:
  /// `numbers` are those that clusters() will be asked for, so that it can plan; others work too.
  SpectralClustering(Affinity affinity, const SpectralOptions& options, std::span<const std::uint32_t> numbers,
                     std::uint64_t seed, const Deadline& deadline);
  ~SpectralClustering();
  SpectralClustering(SpectralClustering&&) noexcept;
  SpectralClustering& operator=(SpectralClustering&&) noexcept;

  /// Exactly k clusters, none empty, in the order of their smallest elements, each in rising order. 1 <= k <= elements.
  /// None when the deadline passed. The same for any number of threads.
  std::optional<Groups> clusters(std::uint32_t k);

 private:
  class Part;
  struct Plan;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Part> whole_;
};

/// `total` shared out in proportion to the sizes, at least one and at most its size to each; the largest remainders
/// first, ties to the lower index. As many sizes as total at most, and total at most their sum.
std::vector<std::uint32_t> shared_out(std::uint32_t total, std::span<const std::uint32_t> sizes);

}  // namespace rankloom
