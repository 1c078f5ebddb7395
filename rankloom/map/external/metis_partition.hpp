// SPDX-License-Identifier: Apache-2.0
// map/peers: one call of METIS.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankloom/core/result.hpp"
#include "rankloom/map/affinity.hpp"

namespace rankloom {

/// What METIS is asked for.
struct MetisRequest {
  std::span<const double> shares;  ///< Of each part, in any unit; all positive.
  std::span<const double> loads;   ///< Of each element; empty: all equal.
  double slack = 1;                ///< A part may hold so many times its share, at least 1.
  std::uint64_t cuts = 1;          ///< Partitions to try; the best is kept.
  std::uint64_t seed = 0;
  bool direct = false;  ///< All parts at once; else by halving again and again.
};

/// Which part each element belongs to, so that little is said between parts. Shares are met only about: METIS keeps to
/// the slack where it can. The same for the same request. METIS counts in 32 bits, and fails beyond 2^31 edges.
///
/// METIS prints to standard output when it has to halve nothing, so it is asked for more than two parts only where
/// there are at least `min_vertices_per_part` elements for each; the caller halves by himself below that.
Result<std::vector<std::uint32_t>> metis_partition(const Affinity& affinity, const MetisRequest& request);
inline constexpr std::uint64_t min_vertices_per_part = 30;

}  // namespace rankloom
