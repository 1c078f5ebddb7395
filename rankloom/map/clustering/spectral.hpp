// SPDX-License-Identifier: Apache-2.0
// map/clustering: CP-NSC, the normalised spectral clustering of processes by their traffic (Wang 2015, Algorithm 1).
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
  std::uint64_t restarts = 8;              ///< Of k-means.
  std::uint64_t max_direct_clusters = 64;  ///< For more clusters than this, the elements are divided into pieces first.
};

/// Clusters of the elements of one affinity graph for several values of k. Eigenvectors are computed once and reused.
///
/// Departures from the paper:
/// - Connected components are clustered separately. Algorithm 1 would find them through the eigenvalue 1, whose
///   multiplicity is the number of components. Each component gets at least one cluster, the other clusters are
///   distributed in proportion to the sizes. If there are more components than clusters, small components are combined.
/// - More than `max_direct_clusters` clusters are made in steps, which applies the paper's hierarchical mapping (4.5)
/// to
///   the clusters: the elements are divided into some dozens of pieces, each piece again, until a piece is small. The
///   clusters are distributed over the pieces in proportion to their sizes. Thousands of eigenvectors in one step would
///   cost O(n k²).
class SpectralClustering {
 public:
  /// `cluster_counts`: the values of k that the caller intends to pass to clusters(); other values work too, but
  /// slower.
  SpectralClustering(Affinity affinity, const SpectralOptions& options, std::span<const std::uint32_t> cluster_counts,
                     std::uint64_t seed, const Deadline& deadline);
  ~SpectralClustering();
  SpectralClustering(SpectralClustering&&) noexcept;
  SpectralClustering& operator=(SpectralClustering&&) noexcept;

  /// Exactly k non-empty clusters, in the order of their smallest elements, each sorted. 1 <= k <= elements. Returns
  /// nullopt when the deadline passed. The result does not depend on the number of threads.
  std::optional<Groups> clusters(std::uint32_t k);

 private:
  class Piece;
  struct Plan;
  std::unique_ptr<Plan> plan_;
  std::unique_ptr<Piece> root_;
};

/// Divides `total` in proportion to the sizes by the largest-remainder method; ties go to the lower index. Every share
/// is at least one and at most its size. Requires sizes.size() <= total <= the sum of the sizes.
std::vector<std::uint32_t> apportion(std::uint32_t total, std::span<const std::uint32_t> sizes);

}  // namespace rankloom
