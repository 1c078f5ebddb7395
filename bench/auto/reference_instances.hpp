// SPDX-License-Identifier: Apache-2.0
// bench/auto: the graphs of a published comparison of mapping tools, generated from the same random numbers, and the
// results of those tools.
//
// Ranks (weighted): stencil2d stencil3d cg rgg blocks12 plaw. Meshes (unit weights): grid2d grid3d rggmesh delaunay.
// The random numbers are those of mt19937_64 with the distributions and the shuffle of libstdc++. With another standard
// library the random graphs differ, and the published figures do not apply to them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "rankloom/model/graph/comm_graph.hpp"

namespace rankloom::bench {

/// nullopt if the kind is unknown or does not have this size (at least 6; cg: powers of two).
std::optional<CommGraph> reference_graph(std::string_view kind, std::uint32_t size, std::uint64_t seed = 1);
/// The same graph with permuted ranks.
CommGraph shuffled(const CommGraph& graph, std::uint64_t seed = 1);

/// Extents of the grids, the last dimension fastest, with a leading 1 in two dimensions; nullopt for the other kinds.
std::optional<std::array<std::uint32_t, 3>> reference_extents(std::string_view kind, std::uint32_t size);

/// Results of other tools with one thread. The seconds were measured on another machine, so only their ratios matter.
struct Published {
  std::string_view kind;
  std::uint32_t size;
  std::string_view hierarchy;
  double best;    ///< The lowest J of VieM, SharedMap, KaHIP, TreeMatch, …, or of the regular tiling.
  double fast_s;  ///< CPU seconds of Scotch for ranks, of METIS multisection for meshes; 0: not measured.
  double good_s;  ///< Those of SharedMap eco for ranks, of KaHIP multisection eco for meshes.
};

std::span<const Published> published();
/// nullptr for seeds other than the first, which are not published.
const Published* published(std::string_view kind, std::uint32_t size, std::string_view hierarchy, std::uint64_t seed);

}  // namespace rankloom::bench
