// SPDX-License-Identifier: Apache-2.0
// capture: what several patterns share: sizes of grids, limits, weights, and which way traffic counts.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "rankloom/core/options.hpp"
#include "rankloom/core/result.hpp"
#include "rankloom/model/comm_graph.hpp"
#include "rankloom/model/profile.hpp"

namespace rankloom {

inline constexpr std::uint64_t most_ranks = 0x7fff'ffff;

/// Streams of Random, so that no two choices of one seed are made by the same numbers.
enum class Stream : std::uint64_t { names = 1, structure = 2, weights = 3 };

/// Extents of a grid with the last dimension fastest; a grid of fewer dimensions has leading ones.
using Extents = std::array<std::uint32_t, 3>;

std::uint64_t volume(const Extents& extents);

/// "16x16" or "8x8x8"; the number of dimensions must be `dimensions`. `option` names it in messages.
Result<Extents> parse_extents(std::string_view text, std::size_t dimensions, std::string_view option);
/// The factorisation with the least surface (three dimensions) or the two nearest factors (two).
Extents most_cubic(std::uint32_t ranks, std::size_t dimensions);

/// A grid by `size`, or, when that is not given, the most cubic grid of `ranks`.
struct GridSize {
  std::size_t dimensions;
  std::string standard;  ///< What size is when neither is given.
  std::string size = standard;
  std::uint64_t ranks = 0;

  void describe(OptionList& options);
  Result<Extents> resolve() const;
};

/// Which dimensions wrap around: "none", "all", or their letters; x is the first of `size`.
Result<std::array<bool, 3>> parse_periodic(std::string_view text, std::size_t dimensions);

/// Whether a weight w between two ranks is one undirected edge that counts once, or w bytes in each direction.
enum class Direction : std::uint8_t { by_weights, undirected, directed };

void describe_direction(OptionList& options, Direction& direction, std::string_view when_directed);

/// Memory that patterns take, in bytes.
inline constexpr double per_rank = 8;             ///< In the graph.
inline constexpr double per_edge = 12;            ///< In the graph.
inline constexpr double per_counted_edge = 20;    ///< In the graph, with messages.
inline constexpr double per_collected_edge = 48;  ///< An undirected one, on its way through CommGraphBuilder.
inline constexpr double per_communicator = 128;   ///< A communicator with its name and a collective.

/// Fails when a pattern would not fit into this machine's memory, before any of it is taken.
Result<void> check_memory(std::string_view pattern, double ranks, double bytes);

/// Weights of edges by their two ends: 1..heaviest at random, the same in both directions.
class PairWeights {
 public:
  PairWeights(std::uint64_t seed, std::uint64_t heaviest);
  double operator()(Rank a, Rank b) const;

 private:
  std::uint64_t key_;
  std::uint64_t heaviest_;
};

/// Gives the edges of a symmetric graph new weights.
CommGraph weighted(CommGraph structure, const PairWeights& weights, bool directed);

/// A profile of nothing but point-to-point traffic.
Profile point_to_point_profile(CommGraph graph);

}  // namespace rankloom
