// SPDX-License-Identifier: Apache-2.0
// map/structure/tiling: along which axes to cut a box if the number of parts does not divide its sides.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "rankloom/map/structure/tiling/boxes.hpp"

namespace rankloom {

/// Guillotine cuts: first into slabs across one axis, then each slab across the next axis, and so on; across the last
/// axis into single pieces.
struct SlabCuts {
  std::array<std::uint8_t, max_axes> axis{};
  std::array<std::uint32_t, max_axes> slabs{};  ///< On each axis except the last one.
  std::size_t axes = 0;                         ///< The number of axes that are cut.
};

/// Beam search over the axes and the numbers of slabs. The cost is estimated as if all slabs were equal and cuts were
/// planes with one offset: a cut that ends inside a row has an offset of one base tile. Caches its results.
class CutPlan {
 public:
  /// The levels to be cut, top down. `base_tile` is the box that is not cut further.
  CutPlan(const BoundaryTraffic& traffic, std::span<const BoxLevel> levels, const Box& base_tile)
      : traffic_(traffic), levels_(levels.begin(), levels.end()), base_tile_(base_tile) {}

  std::size_t level_count() const { return levels_.size(); }

  struct Choice {
    double cost = 0;  ///< Of this level and all levels below, over the whole grid.
    SlabCuts cuts;
  };
  /// Ways to cut a box with these sides into pieces for the objects of a level, the cheapest first; at least one if the
  /// box is larger than the base tile. `pieces` is fractional if the last piece is smaller than the others.
  std::span<const Choice> choices(std::size_t level, double pieces, const Sides<double>& sides);

 private:
  using Key = std::pair<std::size_t, std::array<std::int64_t, max_axes + 1>>;
  struct Option {
    double cost;
    SlabCuts cuts;
    Sides<double> sides;
  };
  void collect(double pieces, const Sides<double>& sides, const SlabCuts& cuts, double bytes_of_steps,
               std::vector<Option>& options) const;
  /// The bytes that cross the offsets in the cuts between slabs of this size, in the whole grid: 0 if the cut is
  /// between base tiles; otherwise the offset is as high as a base tile, at the position with the least traffic.
  double step_bytes(const Sides<double>& slab, std::size_t axis) const;

  const BoundaryTraffic& traffic_;
  std::vector<BoxLevel> levels_;
  Box base_tile_;
  std::map<Key, std::vector<Choice>> cache_;
};

}  // namespace rankloom
