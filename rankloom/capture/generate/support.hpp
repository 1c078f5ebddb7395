// SPDX-License-Identifier: Apache-2.0
// capture/generate: what several patterns share: grid sizes, limits, random weights, and directed or undirected
// traffic.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/graph/comm_graph.hpp"
#include "rankloom/model/graph/profile.hpp"

namespace rankloom {

inline constexpr std::uint64_t max_ranks = 0x7fff'ffff;

/// Independent random streams of one seed.
enum class Stream : std::uint64_t { numbering = 1, structure = 2, weights = 3 };

/// GridExtents of a grid in row-major order. A grid of fewer than three dimensions has leading extents of 1.
using GridExtents = std::array<std::uint32_t, 3>;

std::uint64_t volume(const GridExtents& extents);

/// Parses "16x16" or "8x8x8" with exactly `dimensions` extents. Error messages refer to `option`.
Result<GridExtents> parse_extents(std::string_view text, std::size_t dimensions, std::string_view option);
/// The factorisation with the smallest surface (three dimensions), or the two factors closest to each other (two).
GridExtents cubic_grid(std::uint32_t ranks, std::size_t dimensions);

/// The size of a grid: the option `size`, or the most cubic grid of `ranks`.
struct GridSize {
  std::size_t dimensions;
  std::string default_size;
  std::string size = default_size;
  std::uint64_t ranks = 0;

  void describe(OptionList& options);
  Result<GridExtents> resolve() const;
};

/// Parses the periodic dimensions: "none", "all", or their letters; x is the first dimension of `size`.
Result<std::array<bool, 3>> parse_periodic(std::string_view text, std::size_t dimensions);

/// Whether a weight w between two ranks is an undirected edge, which counts once, or w bytes in each direction.
enum class Direction : std::uint8_t { by_weights, undirected, directed };

void describe_direction(OptionList& options, Direction& direction, std::string_view when_directed);

/// Memory of a pattern, in bytes.
inline constexpr double bytes_per_rank = 8;  ///< In the graph.
inline constexpr double bytes_per_edge = 12;
inline constexpr double bytes_per_counted_edge = 20;   ///< In the graph, with message counts.
inline constexpr double bytes_per_built_edge = 48;     ///< An undirected edge, while CommGraphBuilder builds the graph.
inline constexpr double bytes_per_communicator = 128;  ///< With its name and one collective.

/// Fails if a pattern does not fit into the memory of this machine, before any of it is allocated.
Result<void> check_memory(std::string_view pattern, double ranks, double bytes);

/// Random weights of edges in 1..max_weight, the same in both directions.
class PairWeights {
 public:
  PairWeights(std::uint64_t seed, std::uint64_t max_weight);
  double operator()(Rank a, Rank b) const;

 private:
  std::uint64_t key_;
  std::uint64_t max_weight_;
};

/// Replaces the weights of a symmetric graph.
CommGraph set_weights(CommGraph structure, const PairWeights& weights, bool directed);

/// A profile with point-to-point traffic only.
Profile point_to_point_profile(CommGraph graph);

}  // namespace rankloom
