// SPDX-License-Identifier: Apache-2.0
// map/external: one call of METIS.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/map/affinity.hpp"

namespace rankloom {

struct MetisRequest {
  std::span<const double> shares;  ///< Target weight of each block, in any unit; all positive.
  std::span<const double> loads;   ///< Vertex weights; empty: all equal.
  double slack = 1;                ///< The allowed block weight relative to its target, at least 1 (METIS's ubvec).
  std::uint64_t cuts = 1;          ///< Number of partitions to compute; the best is kept (METIS's ncuts).
  std::uint64_t seed = 0;
  bool kway = false;  ///< Direct k-way partitioning; otherwise recursive bisection.
};

/// The block of each element, with little traffic between blocks. METIS observes the slack only if it can. The result
/// is deterministic. METIS uses 32-bit numbers and fails beyond 2^31 edges.
///
/// METIS prints to standard output when it bisects an empty graph, so the caller requests more than two blocks only
/// with at least `min_vertices_per_part` elements per block, and bisects by itself otherwise.
Result<std::vector<std::uint32_t>> metis_partition(const Affinity& affinity, const MetisRequest& request);
inline constexpr std::uint64_t min_vertices_per_part = 30;

}  // namespace rankloom
