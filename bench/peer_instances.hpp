// SPDX-License-Identifier: Apache-2.0
// bench: the graphs on which public mappers were compared, made by the same draws, and what those mappers reached.
//
// Ranks (weighted): stencil2d stencil3d cg rgg blocks12 plaw. Meshes (unit weights): grid2d grid3d rggmesh delaunay.
// The draws are those of the standard library's mt19937_64, distributions and shuffle as libstdc++ has them; elsewhere
// the random graphs are others of the same kind, and the published figures do not belong to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/model/comm_graph.hpp"

namespace rankloom::bench {

/// None when there is no such kind, or not of this size (at least 6; cg: powers of two).
std::optional<CommGraph> peer_graph(std::string_view kind, std::uint32_t size, std::uint64_t seed = 1);
/// The same with other names for the ranks.
CommGraph shuffled(const CommGraph& graph, std::uint64_t seed = 1);

/// Extents of the grids, the last dimension fastest, leading ones in two dimensions; none for the other kinds.
std::optional<std::array<std::uint32_t, 3>> peer_extents(std::string_view kind, std::uint32_t size);

/// What was measured of the peers, one thread; seconds are of another machine, so only their ratios mean anything.
struct Published {
  std::string_view kind;
  std::uint32_t size;
  std::string_view hierarchy;
  double best;    ///< The lowest J of VieM, SharedMap, KaHIP, TreeMatch, …, or of the regular tiling.
  double fast_s;  ///< CPU seconds of Scotch for ranks, of METIS multisection for meshes; 0: not measured.
  double good_s;  ///< Those of SharedMap eco for ranks, of KaHIP multisection eco for meshes.
};

std::span<const Published> published();
/// None for other seeds than the first: nobody published those.
const Published* published(std::string_view kind, std::uint32_t size, std::string_view hierarchy, std::uint64_t seed);

}  // namespace rankloom::bench
