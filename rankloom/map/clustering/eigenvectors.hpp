// SPDX-License-Identifier: Apache-2.0
// map/clustering: steps 2 to 4 of CP-NSC (Wang 2015, Algorithm 1): the similarity matrix of the traffic, its normalised
// Laplacian, and the eigenvectors.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "rankloom/core/progress.hpp"
#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// The two constants of Algorithm 1.
struct Similarity {
  double self = 1;     ///< SELF_SIMILARITY, S[i][i].
  double maximum = 1;  ///< MAX_SIMILARITY, S[i][j] of the pair with the most traffic; others are proportional.
};

/// Orthonormal columns, the largest eigenvalue first.
struct Eigenvectors {
  std::uint32_t rows = 0;
  std::vector<double> eigenvalues;
  std::vector<double> values;  ///< Column after column.

  std::uint32_t columns() const { return static_cast<std::uint32_t>(eigenvalues.size()); }
};

/// Up to this many elements the dense solver computes all eigenvectors, which takes a few milliseconds.
inline constexpr std::uint32_t max_dense_size = 256;

/// The eigenvectors of the `count` largest eigenvalues of D^(-1/2) S D^(-1/2), which belong to the smallest eigenvalues
/// of the Laplacian. The graph is connected and has at least two elements; 1 <= count <= elements. Exact up to
/// `max_dense_size` elements or when a large part of the spectrum is wanted; otherwise accurate enough to separate
/// clusters. Returns nullopt when the deadline passed.
std::optional<Eigenvectors> leading_eigenvectors(const Affinity& graph, const Similarity& similarity,
                                                 std::uint32_t count, std::uint64_t seed, const Deadline& deadline);

}  // namespace rankloom
